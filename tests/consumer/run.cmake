# Installs the library into an empty prefix, builds the consumer against it and runs it.
# usage: cmake -D build=DIR -D source=DIR -D work=DIR -D engine=FILE -D compiler=C++ -P run.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix --component library)
step(${CMAKE_COMMAND} -S ${source} -B ${work}/build -G Ninja -D CMAKE_PREFIX_PATH=${work}/prefix
     -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer ${engine})
step(${work}/build/consumer_c ${engine})

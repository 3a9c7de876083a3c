# One function per kind of target. A room is an OBJECT library, so that declarations which register themselves are
# never dropped by the linker. `tools/layers.txt` says which rooms a room may include; it is checked by tools/check_layers.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_library(HEADWAY_RE2 re2 REQUIRED)  # Debian's package has no CMake file

find_program(HEADWAY_CCACHE ccache)
if(HEADWAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HEADWAY_CCACHE})
endif()

add_library(headway_options INTERFACE)
target_compile_options(headway_options INTERFACE -Wall -Wextra -Wpedantic -Werror=return-type -fno-fast-math -ffp-contract=off)
target_include_directories(headway_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
if(HEADWAY_SANITIZE)
  # without recovery: a test that only prints what the sanitizer found would pass
  target_compile_options(headway_options INTERFACE -fsanitize=${HEADWAY_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_compile_options(headway_options INTERFACE -g1)  # lines are all that a report needs
  target_link_options(headway_options INTERFACE -fsanitize=${HEADWAY_SANITIZE})
endif()

# headway_room(NAME [GLOB dir...]): all .cpp files of src/NAME (and the named sub folders) except tests.
# Files that end in _avx2.cpp, _avx512.cpp, _avx512bf16.cpp, _avx512vnni.cpp get that instruction set and nothing else does.
function(headway_room name)
  cmake_parse_arguments(ROOM "" "" "GLOB;LINK" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(dir ${ROOM_GLOB})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|_emulated512\\.cpp$")
  if(NOT sources)
    return()
  endif()
  add_library(headway_${name} OBJECT ${sources})
  target_link_libraries(headway_${name} PRIVATE headway_libraries ${ROOM_LINK})
  headway_isa_flags("${sources}")
  set_property(GLOBAL APPEND PROPERTY HEADWAY_ROOMS headway_${name})
  if(HEADWAY_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
    foreach(dir ${ROOM_GLOB})
      file(GLOB more CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_test.cpp
           ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*_emulated512.cpp)
      list(APPEND tests ${more})
    endforeach()
    if(tests)
      set_property(GLOBAL APPEND PROPERTY HEADWAY_UNIT_TESTS ${tests})
      set_property(GLOBAL PROPERTY HEADWAY_UNIT_TESTS_${name} ${tests})
      set_property(GLOBAL APPEND PROPERTY HEADWAY_TESTED_ROOMS ${name})
    endif()
  endif()
endfunction()

# Vector code may contract a*b+c: its results are judged by the operator's tolerance, references stay uncontracted.
function(headway_isa_flags sources)
  set(fast -O3 -ffp-contract=fast)
  if(HEADWAY_SANITIZE)
    set(fast -O1 -ffp-contract=fast)  # instrumented, an unrolled kernel takes minutes to compile
  endif()
  if(HEADWAY_SANITIZE MATCHES "fuzzer")
    set(unwatched -fno-sanitize=all)  # engines of the fuzz targets are built for AVX2
  endif()
  set(avx2 -mavx2 -mfma -mf16c)
  set(avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512
      -Wno-maybe-uninitialized -Wno-uninitialized)  # g++ 12's own intrinsics: GCC bug 105593
  foreach(source ${sources})
    if(source MATCHES "_avx2\\.cpp$")
      set(flags ${fast} ${avx2} -DHEADWAY_ISA=avx2 -DHEADWAY_ISA_AVX2)
    elseif(source MATCHES "_avx512\\.cpp$")
      set(flags ${fast} ${avx2} ${avx512} ${unwatched} -DHEADWAY_ISA=avx512 -DHEADWAY_ISA_AVX512)
    elseif(source MATCHES "_avx512bf16\\.cpp$")
      set(flags ${fast} ${avx2} ${avx512} ${unwatched} -mavx512bf16 -DHEADWAY_ISA=avx512bf16 -DHEADWAY_ISA_AVX512)
    elseif(source MATCHES "_avx512vnni\\.cpp$")
      set(flags ${fast} ${avx2} ${avx512} ${unwatched} -mavx512vnni -DHEADWAY_ISA=avx512vnni -DHEADWAY_ISA_AVX512)
    elseif(source MATCHES "_emulated512\\.cpp$")
      # the 16-lane code on a machine without AVX-512: same source, vectors of two AVX2 halves; linked into tests only
      set(flags ${fast} ${avx2} -Wno-psabi -DHEADWAY_ISA=emulated512 -DHEADWAY_ISA_EMULATED512)
    elseif(source MATCHES "_baseline\\.cpp$")
      set(flags ${fast} -Wno-psabi -DHEADWAY_ISA=baseline -DHEADWAY_ISA_BASELINE)
    else()
      continue()
    endif()
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}")
  endforeach()
endfunction()

# The libraries that the rooms use, for whoever links their objects.
add_library(headway_libraries INTERFACE)
target_link_libraries(headway_libraries INTERFACE headway_options Threads::Threads ZLIB::ZLIB fmt::fmt
                      nlohmann_json::nlohmann_json CLI11::CLI11 ${HEADWAY_RE2} ${CMAKE_DL_LIBS})

# Sets `out` to the rooms whose objects a program with `room` (one or several) links: itself and all that tools/layers.txt
# lets it include. A room in a room (workers/native) has an underscore in its target's name.
function(headway_closure room out)
  file(STRINGS ${CMAKE_SOURCE_DIR}/tools/layers.txt lines REGEX "^[a-z/]+ *:")
  string(REPLACE "/" "_" lines "${lines}")
  set(closure ${room})
  set(grown TRUE)
  while(grown)
    set(grown FALSE)
    foreach(line ${lines})
      string(REGEX MATCH "^([a-z_]+) *: *(.*)$" _ "${line}")
      set(from ${CMAKE_MATCH_1})
      string(REPLACE " " ";" targets "${CMAKE_MATCH_2}")
      if(from IN_LIST closure)
        foreach(target ${targets})
          if(target AND NOT target IN_LIST closure)
            list(APPEND closure ${target})
            set(grown TRUE)
          endif()
        endforeach()
      endif()
    endforeach()
  endwhile()
  set(${out} ${closure} PARENT_SCOPE)
endfunction()

# One gtest binary per room (label unit): its *_test.cpp files with the objects of its closure, whole.
function(headway_unit_tests name)
  get_property(sources GLOBAL PROPERTY HEADWAY_UNIT_TESTS_${name})
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  headway_isa_flags("${sources}")
  target_link_libraries(${name}_test PRIVATE headway_libraries GTest::gtest GTest::gtest_main)
  headway_closure("${name};${name}_test" closure)
  foreach(room ${closure})
    if(TARGET headway_${room})
      target_link_libraries(${name}_test PRIVATE $<TARGET_OBJECTS:headway_${room}>)
    endif()
  endforeach()
  add_test(NAME unit_${name} COMMAND ${name}_test)
  set_tests_properties(unit_${name} PROPERTIES LABELS unit)
endfunction()

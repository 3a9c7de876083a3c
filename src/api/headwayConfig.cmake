include(${CMAKE_CURRENT_LIST_DIR}/headwayTargets.cmake)

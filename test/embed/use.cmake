# test/embed/use.cmake -- builds PROJECT (the README's blocks) with COMPILER against PREFIX in BUILD and runs it.
file(REMOVE_RECURSE ${BUILD})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT} -B ${BUILD} -G Ninja -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)

# With nothing in reach but the installed files: no compiler on the PATH, no cache from before.
execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH= TRILITH_CACHE_DIR=${BUILD}/cache ${BUILD}/example
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")
if(NOT result EQUAL 0 OR NOT output STREQUAL "0.001\n" OR NOT errors STREQUAL "")
  message(FATAL_ERROR "the README's example: exit code ${result}, expected 0 and the output 0.001")
endif()

# A second build has nothing to do: neither is the capture run again.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} OUTPUT_VARIABLE again COMMAND_ERROR_IS_FATAL ANY)
if(NOT again MATCHES "no work to do")
  message(FATAL_ERROR "the second build did something:\n${again}")
endif()

# test/docs/check_page.cmake -- runs PROGRAM, the code of a page, with an empty cache; it must print what OUTPUT holds.
file(REMOVE_RECURSE ${CACHE})
execute_process(COMMAND ${CMAKE_COMMAND} -E env TRILITH_CACHE_DIR=${CACHE} ${PROGRAM}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${OUTPUT} expected)
if(NOT result EQUAL 0 OR NOT output STREQUAL expected OR NOT errors STREQUAL "")
  message(FATAL_ERROR "exit code ${result}\n${errors}\nprinted:\n${output}\nexpected:\n${expected}")
endif()

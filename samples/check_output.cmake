# samples/check_output.cmake -- runs PROGRAM with ARGUMENTS ('|' between them) and fails unless its exit code is
# EXIT_CODE and everything it prints matches the regular expression PRINTS. (ctest's own PASS_REGULAR_EXPRESSION
# would ignore the exit code.) With AGAIN, the kernel cache CACHE is emptied first and the program is run a second
# time, which must print that.
function(run_and_check expected)
  execute_process(COMMAND ${PROGRAM} ${arguments} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  message("${output}${errors}")
  if(NOT result STREQUAL EXIT_CODE)
    message(FATAL_ERROR "exit code: got ${result}, expected ${EXIT_CODE}")
  endif()
  if(NOT "${output}${errors}" MATCHES "${expected}")
    message(FATAL_ERROR "the output does not match:\n${expected}")
  endif()
endfunction()

string(REPLACE "|" ";" arguments "${ARGUMENTS}")
if(AGAIN)
  file(REMOVE_RECURSE ${CACHE})
endif()
run_and_check("${PRINTS}")
if(AGAIN)
  run_and_check("${AGAIN}")
endif()

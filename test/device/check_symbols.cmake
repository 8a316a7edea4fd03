# cmake -DNM=nm -DOBJECT=file.o -P check_symbols.cmake: an emitted kernel's object may refer to mem* alone.
# _GLOBAL_OFFSET_TABLE_ is the linker's own name, there in position-independent code.
execute_process(COMMAND ${NM} -u ${OBJECT} OUTPUT_VARIABLE undefined RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${NM} cannot read ${OBJECT}")
endif()
string(REGEX MATCHALL "U [^\n]+" symbols "${undefined}")
foreach(symbol ${symbols})
  if(NOT symbol MATCHES "^U (memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_)$")
    message(FATAL_ERROR "the device header refers to ${symbol}")
  endif()
endforeach()

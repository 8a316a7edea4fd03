# test/embed/install.cmake -- installs BUILD, moves the result to PREFIX, and checks the public headers.
set(made ${PREFIX}-made)
file(REMOVE_RECURSE ${PREFIX} ${made})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${made} COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_QUIET)
# An installed Trilith may be moved: nothing in it may know where it was made.
file(RENAME ${made} ${PREFIX})

file(GLOB_RECURSE headers ${PREFIX}/include/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "no header was installed")
endif()
foreach(header ${headers})
  file(STRINGS ${header} bad REGEX "# *include *[<\"](llvm|clang|nlohmann|xsimd|spdlog|CLI)/")
  if(bad)
    message(FATAL_ERROR "${header} must not need another library's header: ${bad}")
  endif()
endforeach()
foreach(file bin/trilith bin/trilith-capture LICENSE)
  file(GLOB found ${PREFIX}/${file} ${PREFIX}/share/trilith/${file})
  if(NOT found)
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

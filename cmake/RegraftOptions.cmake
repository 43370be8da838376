set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_compile_options(-fno-semantic-interposition)  # position-independent, yet calls within a source can be inlined
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

option(REGRAFT_HEAVY "the folders that need LibTorch or ONNX Runtime (and so the program)" ON)
set(REGRAFT_SANITIZE "" CACHE STRING "sanitizers: empty, 'address,undefined' or 'thread'")
if(REGRAFT_SANITIZE)
  add_compile_options(-fsanitize=${REGRAFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REGRAFT_SANITIZE})
endif()

# Warnings of our own code; outside headers come in as SYSTEM.
add_library(regraft_warnings INTERFACE)
target_compile_options(regraft_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror)
# GCC 12 reports overlapping copies inside std::string operator+ that cannot happen (GCC bug 105651). It forgets that
# precompiled headers are the system's, and reports overflows in std::string and std::vector that cannot happen either.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(regraft_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
  if(REGRAFT_SANITIZE)  # and under the sanitizers uninitialised values that are none, as its manual says
    target_compile_options(regraft_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_UNITY_BUILD)  # there, no source is the main one, of which it does not warn
    target_compile_options(regraft_warnings INTERFACE -Wno-subobject-linkage)
  endif()
endif()

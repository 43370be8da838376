# regraft_library(core_graph [LIBS outside...] [PCH <header>])
#   One static library from all *.cc of the current folder, named after it (core/graph -> core_graph). Its links to
#   other folders come from cmake/edges.txt. The header is precompiled for those sources that include it. Tests are all
#   *_test.cc of tests/<folder>, in one program core_graph_test, each case known to ctest; benchmarks are all *_bench.cc
#   of tests/bench/<folder>, in core_graph_bench. Under a sanitizer, ctest knows only four parts of each test program.
# regraft_library(core_rules FOLDERS lang compile ...)
#   One static library a folder inside of it (core_rules_lang), each with its own line in cmake/edges.txt; core_rules
#   stands for all of them. Their tests are one program, too. Without REGRAFT_HEAVY, the heavy ones are left out.
file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/edges.txt REGRAFT_EDGES REGEX "^[a-z].*:")

# Sources that name something local as a neighbour does: compiled alone where CMAKE_UNITY_BUILD compiles eight at once.
set(REGRAFT_ALONE
    core/wire/socket core/wire/link core/onnx/names core/onnx/export core/rules/rewrite/same_value
    core/exec/torch/torch_kernels core/exec/torch/torch_model core/proof/exact/exact_elementwise
    core/proof/symbolic/right_side core/rulegen/enumerate/linker replay/rollout/rollout
    replay/rollout/segment_codec learner/job/job_runner tests/core/base/enum_names_test
    tests/core/base/file_test tests/core/graph/graph_test tests/core/onnx/models_test tests/core/onnx/model_summary_test
    tests/core/rules/match/sequences_test tests/core/rules/rewrite/cleanup_chains_test
    tests/core/rules/rewrite/script_test tests/core/rules/rewrite/taso_substitutions_test
    tests/core/rules/examples/marked_rules_test tests/core/rules/examples/shipped_rules_test
    tests/replay/rollout/rollout_test tests/replay/rollout/sequence_replay_test tests/launch/cli/files_test
    tests/launch/cli/rules_test tests/launch/evaluate/score_test tests/launch/job/world_phase_test
    tests/launch/optimise/domain_test tests/launch/optimise/changed_parts_test
    tests/launch/optimise/search_each_test tests/launch/optimise/refused_test)
list(TRANSFORM REGRAFT_ALONE REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/\\1.cc")
foreach(source IN LISTS REGRAFT_ALONE)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "REGRAFT_ALONE names ${source}, which is not there")
  endif()
endforeach()

# Tests with LibTorch and ONNX Runtime: these often name things alike, so each source is compiled alone.
set(REGRAFT_TESTS_ALONE core/exec core/nn actors learner replay)

# Tests that take long under a sanitizer: a quarter of an hour and more for each of the first two, where Z3, which is most
# of the second, is not instrumented. Then the models that take longest: the others have the same tests.
set(REGRAFT_TOO_LONG "Each/MarkedRule.*:Verify.*:AllSites.EqualsTheReferenceOnNasRnn:\
*/inception_v3:*/resnext50_32x4d:*/vit_b_16")

function(regraft_allowed_edges folder out)
  foreach(line IN LISTS REGRAFT_EDGES)
    if(line MATCHES "^${folder}:(.*)$")
      string(STRIP "${CMAKE_MATCH_1}" names)
      string(REPLACE "/" "_" names "${names}")
      separate_arguments(names)
      set(${out} ${names} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "cmake/edges.txt has no line for folder ${folder}")
endfunction()

function(regraft_library name)
  cmake_parse_arguments(ARG "" "" "LIBS;PCH;EXCLUDE;FOLDERS" ${ARGN})
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARG_FOLDERS)
    add_library(${name} INTERFACE)
    set(without "")
    foreach(inner IN LISTS ARG_FOLDERS)
      if(NOT REGRAFT_HEAVY AND ${folder}/${inner} IN_LIST REGRAFT_HEAVY_FOLDERS)
        list(APPEND without "/${folder}/${inner}/")
        continue()
      endif()
      regraft_folder(${name}_${inner} ${folder}/${inner})
      target_link_libraries(${name} INTERFACE ${name}_${inner})
    endforeach()
  else()
    regraft_folder(${name} ${folder})
  endif()
  if(TARGET ${name})
    regraft_tests(${name} ${folder} ${name})
  endif()
endfunction()

# The library of one folder, with the arguments of regraft_library.
function(regraft_folder name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  if(NOT sources)
    message(STATUS "${folder} has no sources: skipped")
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_source_files_properties(${REGRAFT_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  regraft_allowed_edges(${folder} edges)
  target_link_libraries(${name} PUBLIC ${edges} ${ARG_LIBS} PRIVATE regraft_warnings)
  if(ARG_PCH)
    regraft_precompile_used(${name} "${ARG_PCH}" "${sources}")
  else()
    regraft_precompile_standard(${name})
  endif()
endfunction()

# Precompiles an outside header for those of the sources that include it; for the others, reading it would take longer
# than to compile them. Where none does, the standard ones.
function(regraft_precompile_used name header sources)
  foreach(source IN LISTS sources)
    regraft_includes(${source} ${header} uses)
    if(uses)
      list(APPEND users ${source})
    else()
      list(APPEND others ${source})
    endif()
  endforeach()
  if(users)
    regraft_precompile(${name} ${header})
    set_source_files_properties(${others} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  else()
    regraft_precompile_standard(${name})
  endif()
endfunction()

# Precompiles outside headers for a target. All targets that name the same ones share what the first one made.
function(regraft_precompile name)
  get_property(first GLOBAL PROPERTY "REGRAFT_PCH_${ARGN}")
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY "REGRAFT_PCH_${ARGN}" ${name})
  endif()
endfunction()

# The headers that most sources include, LibTorch's users aside.
function(regraft_precompile_standard name)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    regraft_precompile(${name} ${ARGN} <algorithm> <array> <filesystem> <functional> <map> <memory> <optional> <ranges>
                       <span> <string> <unordered_map> <vector>)
  endif()
endfunction()

# Whether a file includes the outside header, itself or through headers of ours.
function(regraft_includes file header out)
  get_property(known GLOBAL PROPERTY "REGRAFT_INCLUDES_${header}_${file}")
  if("${known}" STREQUAL "")
    set(known FALSE)
    set_property(GLOBAL PROPERTY "REGRAFT_INCLUDES_${header}_${file}" FALSE)  # while its own headers are read
    file(STRINGS ${file} lines REGEX "^#include ")
    foreach(line IN LISTS lines)
      if(line STREQUAL "#include ${header}")
        set(known TRUE)
      elseif(NOT known AND line MATCHES "^#include \"(.*)\"")
        regraft_includes(${CMAKE_SOURCE_DIR}/${CMAKE_MATCH_1} ${header} known)
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY "REGRAFT_INCLUDES_${header}_${file}" ${known})
  endif()
  set(${out} ${known} PARENT_SCOPE)
endfunction()

# The tests and benchmarks of one folder, linked with the given libraries.
function(regraft_tests name folder)
  set(tests_dir ${CMAKE_SOURCE_DIR}/tests/${folder})
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${tests_dir}/*_test.cc)
  foreach(pattern IN LISTS without)
    list(FILTER tests EXCLUDE REGEX ${pattern})
  endforeach()
  if(tests)
    add_executable(${name}_test ${tests})
    target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name}_test PRIVATE ${ARGN} regraft_warnings GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE REGRAFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                               REGRAFT_BINARY_DIR="${CMAKE_BINARY_DIR}")
    regraft_precompile_standard(${name}_test <gmock/gmock.h>)
    if(REGRAFT_HEAVY AND folder IN_LIST REGRAFT_TESTS_ALONE)
      set_target_properties(${name}_test PROPERTIES UNITY_BUILD OFF)
    endif()
    if(REGRAFT_SANITIZE)  # whole programs, in parts: a program takes longer to start than most of its tests
      foreach(part RANGE 3)
        add_test(NAME ${folder}:part-${part} COMMAND ${name}_test)
        set_tests_properties(${folder}:part-${part} PROPERTIES TIMEOUT 1200 ENVIRONMENT
          "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${part};GTEST_FILTER=-${REGRAFT_TOO_LONG}")
      endforeach()
    else()
      gtest_discover_tests(${name}_test TEST_PREFIX ${folder}: DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                           PROPERTIES TIMEOUT 600)
    endif()
  endif()
  file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/${folder}/*_bench.cc)
  if(benches AND NOT without AND NOT REGRAFT_SANITIZE)
    add_executable(${name}_bench ${benches})
    target_include_directories(${name}_bench PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name}_bench PRIVATE ${ARGN} regraft_warnings benchmark::benchmark_main)
    target_compile_definitions(${name}_bench PRIVATE REGRAFT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  endif()
endfunction()

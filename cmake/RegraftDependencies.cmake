# Outside libraries, each as one imported target. Debian's packages are found as usual; ONNX Runtime and LibTorch are
# unpacked from their Python wheels by launch/setup.sh, which holds their versions, into the cache folder below.
include(GoogleTest)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(cereal REQUIRED)
find_package(Protobuf REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(tsl-robin-map REQUIRED)
find_package(ONNX REQUIRED)  # onnx_proto: the messages; onnx: the operator schemas
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)

# Libraries without a CMake package, in the system's own folders. libzmq's pkg-config flags, of its private needs, differ
# between a first and a later configuration, which would build everything twice.
find_library(REGRAFT_ZMQ_LIBRARY zmq REQUIRED)  # cppzmq's zmq.hpp lies beside zmq.h
add_library(zmq::zmq UNKNOWN IMPORTED)
set_target_properties(zmq::zmq PROPERTIES IMPORTED_LOCATION ${REGRAFT_ZMQ_LIBRARY})
find_library(REGRAFT_Z3_LIBRARY z3 REQUIRED)
add_library(z3::z3 UNKNOWN IMPORTED)
set_target_properties(z3::z3 PROPERTIES IMPORTED_LOCATION ${REGRAFT_Z3_LIBRARY})

find_package(MPI COMPONENTS CXX)                        # MPI::MPI_CXX, for launch only

if(DEFINED ENV{REGRAFT_CACHE})
  set(regraft_cache_default $ENV{REGRAFT_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(regraft_cache_default $ENV{XDG_CACHE_HOME}/regraft)
else()
  set(regraft_cache_default $ENV{HOME}/.cache/regraft)
endif()
set(REGRAFT_CACHE ${regraft_cache_default} CACHE PATH "where launch/setup.sh has put LibTorch and ONNX Runtime")

# The line NAME_VERSION=... of launch/setup.sh.
function(regraft_setup_version name out)
  file(STRINGS ${CMAKE_SOURCE_DIR}/launch/setup.sh line REGEX "^${name}_VERSION=")
  string(REGEX REPLACE "^[^=]*=" "" version "${line}")
  set(${out} ${version} PARENT_SCOPE)
endfunction()

function(regraft_require file)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is missing: run 'bash launch/setup.sh' (or set REGRAFT_CACHE)")
  endif()
endfunction()

if(REGRAFT_HEAVY)
  regraft_setup_version(ONNXRUNTIME onnxruntime_version)
  set(prefix ${REGRAFT_CACHE}/onnxruntime-${onnxruntime_version})
  regraft_require(${prefix}/lib/libonnxruntime.so.1)
  add_library(onnxruntime::onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES
    IMPORTED_LOCATION ${prefix}/lib/libonnxruntime.so.1
    INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)

  # LibTorch: libc10 and libtorch_cpu; libtorch_cuda is opened at run time where there is a GPU. The wheel carries
  # headers of an older protobuf, so its folders are searched after the system's. It uses g++'s default ABI.
  regraft_setup_version(TORCH torch_version)
  set(prefix ${REGRAFT_CACHE}/torch-${torch_version})
  regraft_require(${prefix}/torch/lib/libtorch_cpu.so)
  add_library(torch::c10 SHARED IMPORTED)
  set_target_properties(torch::c10 PROPERTIES IMPORTED_LOCATION ${prefix}/torch/lib/libc10.so)
  add_library(torch::torch SHARED IMPORTED)
  set_target_properties(torch::torch PROPERTIES
    IMPORTED_LOCATION ${prefix}/torch/lib/libtorch_cpu.so
    INTERFACE_COMPILE_OPTIONS
      "SHELL:-idirafter ${prefix}/torch/include;SHELL:-idirafter ${prefix}/torch/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "torch::c10;Threads::Threads"
    # The linker follows libtorch_cpu's own needs (libcudart, libcupti, libgomp) by its RPATH.
    INTERFACE_LINK_OPTIONS "LINKER:-rpath-link,${prefix}/nvidia/cu13/lib;LINKER:-rpath-link,${prefix}/torch/lib")
endif()

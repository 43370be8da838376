# Outside libraries, each as one imported target. apt packages are found as usual; ONNX Runtime and LibTorch are unpacked
# from PyPI wheels by launch/setup.sh into the prefix below.
include(GoogleTest)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

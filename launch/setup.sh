#!/usr/bin/env bash
# Installs what regraft needs to build and run on Debian 12: Debian packages by apt, and LibTorch, ONNX Runtime and
# OpenVINO from their Python wheels into a cache folder of the user (on a GPU machine LibTorch's CUDA libraries too).
# Safe to run again: what is there is left alone, what is fetched is unpacked aside and renamed, so an interrupted run
# leaves nothing half-written, and a second clone downloads nothing. Without root and with packages missing it names
# them and exits 2.
set -euo pipefail

# Versions, here and nowhere else; CMake reads these lines.
TORCH_VERSION=2.11.0
ONNXRUNTIME_VERSION=1.31.1
# ONNX's own checker and test data, for the tests; with the packages that it needs, for Debian's Python.
ONNX_VERSION=1.19.1
# Another runtime to measure in (configs/runtimes); with NumPy, for Debian's Python.
OPENVINO_VERSION=2026.4.1
# What the Python module's environments derive from; with the packages that it needs, for Debian's Python.
GYMNASIUM_VERSION=1.4.0
# The CUDA runtime libraries that the torch wheel above names as its own.
CUDA_RUNTIME_VERSION=13.0.96
CUDA_CUPTI_VERSION=13.0.85
# The Debian release whose libonnxruntime-dev carries the C++ headers; their API is versioned, so they may be older.
HEADERS_SUITE=trixie

CACHE=${REGRAFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/regraft}
TORCH_PREFIX=$CACHE/torch-$TORCH_VERSION
ONNXRUNTIME_PREFIX=$CACHE/onnxruntime-$ONNXRUNTIME_VERSION
ONNXRUNTIME_PYTHON_PREFIX=$CACHE/onnxruntime-python-$ONNXRUNTIME_VERSION
ONNX_PREFIX=$CACHE/onnx-$ONNX_VERSION
OPENVINO_PREFIX=$CACHE/openvino-$OPENVINO_VERSION
GYMNASIUM_PREFIX=$CACHE/gymnasium-$GYMNASIUM_VERSION

PACKAGES=(cmake g++ clang clang-tidy clang-tools clang-format libclang-rt-14-dev pkg-config z3 python3-pip libzmq3-dev cppzmq-dev
  libsodium-dev libcereal-dev libopenmpi-dev openmpi-bin libonnx-dev libprotobuf-dev protobuf-compiler libz3-dev
  libspdlog-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libxxhash-dev robin-map-dev
  libsqlitecpp-dev zlib1g-dev liblzma-dev libgtest-dev libgmock-dev libbenchmark-dev ninja-build ccache xz-utils
  python3-dev pybind11-dev patchelf zsh
  python3-pandas python3-matplotlib python3-jinja2 python3-xxhash python3-crc32c)

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

install_debian_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 ]]; then
    say "these Debian packages are missing; ask whoever has root to run:" >&2
    printf '  apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
    exit 2
  fi
  say "installing ${#missing[@]} Debian packages"
  local log
  log=$(mktemp)
  if ! { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    fail "apt-get failed (above); check the network and the configured mirror, then run again"
  fi
  rm -f "$log"
}

# shellcheck source=lib/cuda.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib/cuda.sh"

# The first Python that has pip: the user's own, else Debian's.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      printf '%s' "$python"
      return
    fi
  done
  fail "no python3 with pip (apt-get install python3-pip)"
}

# pip_download FOLDER ARGUMENT...: wheels of one fixed Python, so that the local one does not matter.
pip_download() {
  local folder=$1 platform platforms=()
  shift
  for platform in manylinux_2_28 manylinux_2_27 manylinux_2_25 manylinux_2_24 manylinux_2_17 manylinux2014; do
    platforms+=(--platform "${platform}_$(uname -m)")
  done
  "$PYTHON" -m pip download -q --disable-pip-version-check --no-cache-dir --only-binary=:all: --python-version 3.11 \
    --implementation cp --abi cp311 --abi none --abi abi3 "${platforms[@]}" -d "$folder" "$@" ||
    fail "pip could not download ${*: -1}; check the network and pip's index, then run again"
}

# fetch_wheel FOLDER NAME==VERSION
fetch_wheel() { pip_download "$1" --no-deps "$2"; }

# fetch_wheels_with_needs FOLDER NAME==VERSION...
fetch_wheels_with_needs() { pip_download "$@"; }

# unpack_wheels FOLDER TARGET PREFIX...: the members of FOLDER's wheels whose names start with one of the prefixes.
unpack_wheels() {
  "$PYTHON" - "$@" <<'PYTHON'
import pathlib, sys, zipfile
folder, target, *prefixes = sys.argv[1:]
for wheel in sorted(pathlib.Path(folder).glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(tuple(prefixes)):
                archive.extract(name, target)
PYTHON
}

# A library of an installed CUDA 13 toolkit, or nothing.
toolkit_library() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}"/{lib64,targets/x86_64-linux/lib,extras/CUPTI/lib64}; do
    if [[ -e $folder/$1 ]]; then
      printf '%s' "$folder/$1"
      return
    fi
  done
}

# LibTorch looks for its CUDA libraries in ../../nvidia/cu13/lib from its own folder: the wheel's layout is kept.
add_cuda_runtime() {
  local target=$1 work=$2 libraries=$1/nvidia/cu13/lib library found
  mkdir -p "$libraries" "$work/cuda"
  for library in libcudart.so.13 libcupti.so.13; do
    found=$(toolkit_library "$library")
    if [[ -n $found ]]; then
      ln -sfn "$found" "$libraries/$library"
    elif [[ $library == libcudart* ]]; then
      fetch_wheel "$work/cuda" "nvidia-cuda-runtime==$CUDA_RUNTIME_VERSION"
    else
      fetch_wheel "$work/cuda" "nvidia-cuda-cupti==$CUDA_CUPTI_VERSION"
    fi
  done
  unpack_wheels "$work/cuda" "$target" nvidia/cu13/lib/
}

fetch_torch() {
  say "fetching LibTorch $TORCH_VERSION"
  fetch_wheel "$WORK/torch-wheel" "torch==$TORCH_VERSION"
  unpack_wheels "$WORK/torch-wheel" "$WORK/torch" torch/lib/ torch/include/
  rm -rf "$WORK/torch-wheel"
  add_cuda_runtime "$WORK/torch" "$WORK"
  move_in_place "$WORK/torch" "$TORCH_PREFIX"
}

# fetch_debian_package FOLDER PACKAGE: from $HEADERS_SUITE of the mirror already configured, by a throw-away source
# list; the machine's own apt state is not touched.
fetch_debian_package() {
  local folder=$1 package=$2 mirror options
  mirror=$(apt-get indextargets --format '$(CREATED_BY) $(RELEASE) $(COMPONENT) $(REPO_URI)' |
    awk '$1 == "Packages" && $2 == "bookworm" && $3 == "main" { print $4; exit }')
  [[ -n $mirror ]] || fail "apt has no source for Debian bookworm main to take the mirror from"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/deb"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$HEADERS_SUITE" \
    >"$folder/sources.list"
  options=(-qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User=root
    -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o Acquire::Languages=none
    -o APT::Default-Release=)
  if ! { apt-get "${options[@]}" update && cd "$folder/deb" && apt-get "${options[@]}" download "$package"; } \
    >"$folder/log" 2>&1; then
    cat "$folder/log" >&2
    fail "could not fetch $package of Debian $HEADERS_SUITE (above); check the configured mirror, then run again"
  fi
}

fetch_onnxruntime() {
  say "fetching ONNX Runtime $ONNXRUNTIME_VERSION"
  local target=$WORK/onnxruntime
  fetch_wheel "$WORK/onnxruntime-wheel" "onnxruntime==$ONNXRUNTIME_VERSION"
  unpack_wheels "$WORK/onnxruntime-wheel" "$WORK/unpacked" onnxruntime/capi/libonnxruntime.so \
    onnxruntime/LICENSE onnxruntime/ThirdPartyNotices
  mkdir -p "$target/lib"
  mv "$WORK/unpacked/onnxruntime/capi/"libonnxruntime.so.* "$target/lib/"
  ln -s "libonnxruntime.so.$ONNXRUNTIME_VERSION" "$target/lib/libonnxruntime.so.1"
  (fetch_debian_package "$WORK/headers" libonnxruntime-dev)
  dpkg-deb -x "$WORK"/headers/deb/*.deb "$WORK/headers/unpacked"
  mv "$WORK/headers/unpacked/usr/include/onnxruntime" "$target/include"
  move_in_place "$target" "$ONNXRUNTIME_PREFIX"
}

# The runtime as a Python package, with which tests judge the program's outputs; what it needs comes with ONNX.
fetch_onnxruntime_python() {
  say "fetching ONNX Runtime $ONNXRUNTIME_VERSION for Python"
  fetch_wheel "$WORK/onnxruntime-python-wheel" "onnxruntime==$ONNXRUNTIME_VERSION"
  unpack_wheels "$WORK/onnxruntime-python-wheel" "$WORK/onnxruntime-python" onnxruntime/__init__.py onnxruntime/LICENSE \
    onnxruntime/ThirdPartyNotices onnxruntime/capi/_ onnxruntime/capi/build onnxruntime/capi/onnxruntime \
    onnxruntime/capi/libonnxruntime_providers
  move_in_place "$WORK/onnxruntime-python" "$ONNXRUNTIME_PYTHON_PREFIX"
}

fetch_onnx() {
  say "fetching ONNX $ONNX_VERSION"
  fetch_wheels_with_needs "$WORK/onnx-wheels" "onnx==$ONNX_VERSION"
  unpack_wheels "$WORK/onnx-wheels" "$WORK/onnx" ""
  rm -rf "$WORK/onnx-wheels"
  move_in_place "$WORK/onnx" "$ONNX_PREFIX"
}

fetch_openvino() {
  say "fetching OpenVINO $OPENVINO_VERSION"
  pip_download "$WORK/openvino-wheels" --no-deps "openvino==$OPENVINO_VERSION" "numpy<2.6"
  unpack_wheels "$WORK/openvino-wheels" "$WORK/openvino" ""
  rm -rf "$WORK/openvino-wheels"
  move_in_place "$WORK/openvino" "$OPENVINO_PREFIX"
}

fetch_gymnasium() {
  say "fetching Gymnasium $GYMNASIUM_VERSION"
  fetch_wheels_with_needs "$WORK/gymnasium-wheels" "gymnasium==$GYMNASIUM_VERSION"
  unpack_wheels "$WORK/gymnasium-wheels" "$WORK/gymnasium" ""
  rm -rf "$WORK/gymnasium-wheels"
  move_in_place "$WORK/gymnasium" "$GYMNASIUM_PREFIX"
}

# Both on one file system: the rename is all or nothing. A concurrent set-up that was first wins.
move_in_place() {
  rm -rf "$2.broken"
  [[ ! -e $2 ]] || mv "$2" "$2.broken"
  mv -T "$1" "$2"
  rm -rf "$2.broken"
}

torch_is_there() {
  [[ -e $TORCH_PREFIX/torch/lib/libtorch_cpu.so && -e $TORCH_PREFIX/nvidia/cu13/lib/libcudart.so.13 &&
    -e $TORCH_PREFIX/nvidia/cu13/lib/libcupti.so.13 && -e $TORCH_PREFIX/torch/include/torch/extension.h ]]
}

onnxruntime_is_there() {
  [[ -e $ONNXRUNTIME_PREFIX/lib/libonnxruntime.so.1 && -e $ONNXRUNTIME_PREFIX/include/onnxruntime_cxx_api.h ]]
}

onnxruntime_python_is_there() { [[ -e $ONNXRUNTIME_PYTHON_PREFIX/onnxruntime/capi/onnxruntime_inference_collection.py ]]; }

onnx_is_there() {
  [[ -e $ONNX_PREFIX/onnx/checker.py && -d $ONNX_PREFIX/onnx/backend/test/data && -d $ONNX_PREFIX/numpy ]]
}

openvino_is_there() { [[ -e $OPENVINO_PREFIX/openvino/__init__.py && -d $OPENVINO_PREFIX/numpy ]]; }

gymnasium_is_there() { [[ -e $GYMNASIUM_PREFIX/gymnasium/core.py && -d $GYMNASIUM_PREFIX/numpy ]]; }

main() {
  [[ $(uname -m) == x86_64 ]] || fail "only x86_64 is supported, this is $(uname -m)"
  install_debian_packages
  if torch_is_there && cuda_is_there && onnxruntime_is_there && onnxruntime_python_is_there && onnx_is_there &&
    openvino_is_there && gymnasium_is_there; then
    say "everything is installed (libraries in $CACHE)"
    return
  fi
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"
  flock 9
  PYTHON=$(find_python)
  WORK=$(mktemp -d "$CACHE/fetch.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
  torch_is_there || fetch_torch
  cuda_is_there || fetch_cuda_libraries
  onnxruntime_is_there || fetch_onnxruntime
  onnxruntime_python_is_there || fetch_onnxruntime_python
  onnx_is_there || fetch_onnx
  openvino_is_there || fetch_openvino
  gymnasium_is_there || fetch_gymnasium
  say "done in ${SECONDS} s (libraries in $CACHE)"
}

main "$@"

"""Conan: conan create packaging/conan --build=missing -s compiler.cppstd=20"""

import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Covary(ConanFile):
    name = "covary"
    version = "0.1.0"
    license = "MIT"
    description = "Gaussian processes in C++20"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    default_options = {"openblas/*:build_lapack": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for part in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, part, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/3.4.0", transitive_headers=True)
        self.requires("fmt/[>=9 <12]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("openblas/[>=0.3.21 <0.4]")
        self.requires("nlohmann_json/[>=3.11 <4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update(COVARY_BUILD_APPS=False, COVARY_BUILD_TESTS=False, COVARY_WERROR=False)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["covary"]
        self.cpp_info.defines = ["EIGEN_MAX_ALIGN_BYTES=32"]
        self.cpp_info.system_libs = ["pthread"]

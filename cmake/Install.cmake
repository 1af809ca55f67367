# find_package(covary CONFIG) → covary::covary, and pkg-config.
include(CMakePackageConfigHelpers)
install(TARGETS covary EXPORT covaryTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET covary_cli)
  install(TARGETS covary_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS covary_experiments RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)  # `make demo` builds none
endif()
install(DIRECTORY include/covary DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/covary)
install(EXPORT covaryTargets NAMESPACE covary:: DESTINATION ${package_dir})
configure_package_config_file(cmake/covaryConfig.cmake.in covaryConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(covaryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/covaryConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/covaryConfigVersion.cmake cmake/FindCovaryBlas.cmake
  DESTINATION ${package_dir})
file(RELATIVE_PATH COVARY_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the package may be moved
configure_file(cmake/covary.pc.in covary.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/covary.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# cpack -G DEB
set(CPACK_PACKAGE_NAME covary)
set(CPACK_PACKAGE_CONTACT "The Covary authors")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libeigen3-dev, libfmt-dev, libopenblas-dev, zlib1g-dev")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
include(CPack)

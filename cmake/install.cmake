# What `cmake --install` gives: the tool with its in-process compiler, the library for find_package(facet), documentation, schemas.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(facet_library INTERFACE)
target_link_libraries(facet_library INTERFACE facet_driver)
set_target_properties(facet_library PROPERTIES EXPORT_NAME facet)

install(TARGETS facet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET facet_jit)
  # Where the tool looks for it: ../lib from its own folder.
  install(TARGETS facet_jit LIBRARY DESTINATION lib)
endif()
install(TARGETS facet_library facet_core facet_graph facet_polyhedral facet_codegen facet_run facet_driver
        EXPORT facet_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/facet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT facet_targets NAMESPACE facet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/facet)
configure_package_config_file(cmake/facet-config.cmake.in ${CMAKE_BINARY_DIR}/facet-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/facet)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/facet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/facet-config.cmake ${CMAKE_BINARY_DIR}/facet-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/facet)

install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/facet)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Completion is written by the tool itself, from the table that parses the command line.
install(CODE [[
  set(data "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
  file(MAKE_DIRECTORY "${data}/bash-completion/completions" "${data}/zsh/site-functions")
]])
install(CODE "execute_process(COMMAND $<TARGET_FILE:facet> completion bash OUTPUT_FILE \"\${data}/bash-completion/completions/facet\" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND $<TARGET_FILE:facet> completion zsh OUTPUT_FILE \"\${data}/zsh/site-functions/_facet\" COMMAND_ERROR_IS_FATAL ANY)")

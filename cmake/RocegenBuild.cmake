# What every target of rocegen shares: the language, the flags, and how source lists are read.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, RelWithDebInfo (asserts on) or Release" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Plain variables, so that they win over CMake's cached defaults. RelWithDebInfo keeps asserts.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g -DNDEBUG")

# ccache where it is installed and may write its cache (a user without a home cannot).
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    execute_process(
        COMMAND sh -c "d=$('${CCACHE_PROGRAM}' -k cache_dir) && mkdir -p \"$d/tmp\" && test -w \"$d/tmp\""
        RESULT_VARIABLE ccache_status OUTPUT_QUIET ERROR_QUIET)
    if(ccache_status EQUAL 0)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
    endif()
endif()

# Sanitizers go to all targets: a mixed program reports what is not there.
if(ROCEGEN_SANITIZE)
    set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")  # lines are enough for their traces, and build sooner
    add_compile_options(-fsanitize=${ROCEGEN_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${ROCEGEN_SANITIZE})
endif()
if(ROCEGEN_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "ROCEGEN_FUZZ needs clang: use cmake --preset fuzz")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# rocegen_target(TARGET): flags of our own code. -ffp-contract=off keeps results the same
# on machines with and without fused multiply-add.
function(rocegen_target target)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wshadow -Wconversion -ffp-contract=off
        $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>  # GCC 12 sees it in any std::optional
        $<$<BOOL:${ROCEGEN_WERROR}>:-Werror>)
    target_compile_definitions(${target} PRIVATE ROCEGEN_VERSION="${PROJECT_VERSION}")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
endfunction()

# rocegen_read_sources(VARIABLE LIST): the absolute paths that a sources.txt names. Meson reads
# the same files. A changed list configures anew.
function(rocegen_read_sources variable list)
    set(list "${PROJECT_SOURCE_DIR}/${list}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    file(STRINGS "${list}" lines)
    set(sources "")
    foreach(line IN LISTS lines)
        string(STRIP "${line}" line)
        if(line AND NOT line MATCHES "^#")
            list(APPEND sources "${PROJECT_SOURCE_DIR}/${line}")
        endif()
    endforeach()
    set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# rocegen_install_pkgconfig(): rocegen.pc for the core, rocegen-dpdk.pc for the live engine.
function(rocegen_install_pkgconfig)
    set(prefix "${CMAKE_INSTALL_PREFIX}")
    set(includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
    set(libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(version "${PROJECT_VERSION}")
    set(files rocegen)
    if(TARGET rocegen_dpdk)
        list(APPEND files rocegen-dpdk)
    endif()
    foreach(file IN LISTS files)
        configure_file("${PROJECT_SOURCE_DIR}/cmake/${file}.pc.in" "${file}.pc" @ONLY)
        install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${file}.pc"
                DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endforeach()
endfunction()

// The plugin opened by hand: text in, callable code out. Skipped where it was not built.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "codegen/openmp/jit/jit.hpp"
#include "support/paths.hpp"

namespace facet::test {

class Jit : public testing::Test {
 protected:
  void SetUp() override {
    plugin_ = dlopen(jit_plugin_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!plugin_ && access(jit_plugin_path().c_str(), F_OK) != 0) GTEST_SKIP() << "built without the plugin";
    ASSERT_TRUE(plugin_) << dlerror();
    compile_ = reinterpret_cast<facet::JitCompileFunction>(dlsym(plugin_, "facet_jit_compile"));
    symbol_ = reinterpret_cast<facet::JitSymbolFunction>(dlsym(plugin_, "facet_jit_symbol"));
    free_ = reinterpret_cast<facet::JitFreeFunction>(dlsym(plugin_, "facet_jit_free"));
    free_text_ = reinterpret_cast<facet::JitFreeTextFunction>(dlsym(plugin_, "facet_jit_free_text"));
    version_ = reinterpret_cast<facet::JitVersionFunction>(dlsym(plugin_, "facet_jit_version"));
    ASSERT_TRUE(compile_ && symbol_ && free_ && free_text_ && version_);
  }

  void* compile(const std::string& source, std::vector<const char*> flags = {"-O3", "-march=native", "-fopenmp"}) {
    char* error = nullptr;
    void* library = compile_(source.c_str(), flags.data(), static_cast<int>(flags.size()), &error);
    error_ = error ? error : "";
    free_text_(error);
    return library;
  }

  void* plugin_ = nullptr;
  facet::JitCompileFunction compile_ = nullptr;
  facet::JitSymbolFunction symbol_ = nullptr;
  facet::JitFreeFunction free_ = nullptr;
  facet::JitFreeTextFunction free_text_ = nullptr;
  facet::JitVersionFunction version_ = nullptr;
  std::string error_;
};

}  // namespace facet::test

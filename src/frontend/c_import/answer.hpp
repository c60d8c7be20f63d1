// What the reading of a C region answers, as plain values and as the JSON text that crosses the plugin's C interface.
//
// The reader (Clang's side) fills it; src/frontend/import_c (the tool's side, no Clang) makes a program of the text. Names are
// those of the region's text: renamed where C++ or the region itself has another use for them.
#pragma once

#include <string>
#include <vector>

namespace facet::c_import {

struct Problem {
  std::string code;  // code_name() of a registered diagnostic
  std::string file;
  int line = 0, column = 0;
  std::string excerpt;  // the source line
  std::vector<std::string> args, notes;
};

// One line of the region's text and the line of the C file that its first statement stands on.
struct Line {
  int number = 0;
  std::string text;
};

struct TensorFact {
  std::string name;
  std::string dtype;
  std::vector<std::string> extents;  // affine texts; "" where the declaration does not say
  bool read = false, written = false;
  bool scratch = false;  // an array of the function's own
};

// A parameter of the function or a variable of the file, in the order of declaration (globals by first use).
struct ArgumentFact {
  std::string name;      // in C
  std::string text;      // in the region's text
  std::string type;      // of the value, or of what the pointer points to: "double", "const float", "unsigned long"
  bool pointer = false;  // passed as a pointer (also arrays)
  std::string kind;      // "symbol", "tensor", "scalar" or "unused"
  bool global = false;
  bool internal = false;             // a static variable of the file
  std::vector<std::string> extents;  // of a global array: numbers
};

struct Answer {
  std::string function;
  std::string prototype;    // as the C file has it, on one line
  std::string no_function;  // why no drop-in function can be made of it; "" where one can
  std::vector<ArgumentFact> arguments;
  std::vector<TensorFact> tensors;
  std::vector<Line> lines;
  std::vector<Problem> problems;
};

std::string to_json(const Answer& answer);

}  // namespace facet::c_import

// test/docs/page_program.cpp -- the code of a Markdown page as one program, with the output it must print.
//
//   page_program PAGE.md PROGRAM.cpp OUTPUT.txt
//
// ```cpp       declarations, in order
// ```cpp run   statements, in a function of their own, called in order
// ```text      what the block before prints
// Other blocks (sh, cmake, …) are not code of the page. An unknown word behind cpp, or a block without an end, is an error.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

int complain(const std::string& page, int line, const std::string& what) {
  std::cerr << page << ':' << line << ": error: " << what << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: page_program PAGE.md PROGRAM.cpp OUTPUT.txt\n";
    return 2;
  }
  const std::string page = argv[1];
  std::ifstream in(page);
  if (!in) return complain(page, 0, "no such page");
  std::string program = "// The code of " + page + "\n", calls, output;
  std::string line, block, kind;
  int number = 0, start = 0, runs = 0;
  bool inside = false;
  while (std::getline(in, line)) {
    ++number;
    if (!line.starts_with("```")) {
      if (inside) block += line + "\n";
      continue;
    }
    if (!inside) {
      inside = true;
      kind = line.substr(3);
      start = number;
      block.clear();
      if (kind.starts_with("cpp") && kind != "cpp" && kind != "cpp run")
        return complain(page, number, "a block of '" + kind + "'; expected cpp or cpp run");
      continue;
    }
    inside = false;
    const std::string place = "// " + page + ":" + std::to_string(start + 1) + "\n";
    if (kind == "cpp") {
      program += "\n" + place + block;
    } else if (kind == "cpp run") {
      const std::string name = "run_" + std::to_string(++runs);
      program += "\n" + place + "static void " + name + "() {\n" + block + "}\n";
      calls += "  " + name + "();\n";
    } else if (kind == "text") {
      output += block;
    }
  }
  if (inside) return complain(page, start, "a block without an end");
  if (runs == 0) return complain(page, number, "nothing to run: no block of 'cpp run'");
  std::ofstream(argv[2])
      << program << "\nint main() try {\n"
      << calls
      << "} catch (const pl::Error& error) {\n  std::cerr << error.what() << '\\n';\n  return 1;\n}\n";
  std::ofstream(argv[3]) << output;
}

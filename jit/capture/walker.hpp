// jit/capture/walker.hpp -- private: the walk from one type-checked lambda to one codegen::Kernel.
//
// A Walker lives for one kernel. Scalars, tiles, tensor views and index lists become codegen::Expr; what has
// an effect is emitted as a statement in front of the expression that uses it; closures and helpers exist at
// capture time only and are inlined. Whatever is not understood is refused: never skipped.
#pragma once

#include "codegen/ir.hpp"
#include "jit/capture/frontend.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace trilith::capture {

/// Thrown after a diagnostic was reported; caught where the next kernel begins.
struct Refused {};

/// A call of `pl::jit.incore(lambda)`, or of `pl::at(level, lambda)`.
struct Site {
  const clang::CallExpr* call = nullptr;
  const clang::CXXRecordDecl* closure = nullptr;
  std::string name;         ///< of the variable that is initialised
  bool is_at_body = false;  ///< what the lambda captures are its arguments
};

/// Reports an error with a caret, and a note that says how to mend it; then throws Refused.
[[noreturn]] void refuse(clang::ASTContext& context, clang::SourceLocation location, const std::string& what,
                         const std::string& mend);
[[noreturn]] void refuse(clang::ASTContext& context, clang::SourceRange range, const std::string& what,
                         const std::string& mend);

// --- types.cpp: what a C++ type means to the kernel language
enum class Kind { Other, Void, Scalar, Tile, Tensor, Index, Dynamic, Closure, Helper, Kernel, Compound };
struct Meaning {
  Kind kind = Kind::Other;
  codegen::DType dtype = codegen::DType::Float32;
  bool any_dtype = false;
  bool wrapper = false;      ///< pl::Scalar, pl::Const: a scalar that is a class in C++
  bool specialised = false;  ///< pl::Const
  bool window = false;       ///< pld::DistributedTensor
  codegen::Access access = codegen::Access::In;
  /// The pl::Tensor<...> itself; null: any view, under another class (pld::CommCtx, AnyTensor, Signal).
  const clang::ClassTemplateSpecializationDecl* tensor = nullptr;
  const clang::CXXRecordDecl* closure = nullptr;  ///< Closure, Helper
};
[[nodiscard]] Meaning meaning_of(clang::QualType type, clang::ASTContext& context);
[[nodiscard]] std::optional<codegen::DType> dtype_of(clang::QualType type, clang::ASTContext& context);
/// The types of the parts of a struct, std::pair, std::tuple, std::array or C array; nothing where the type is none
/// of these or cannot be taken apart.
[[nodiscard]] std::optional<std::vector<clang::QualType>> parts_of(clang::QualType type);
/// A class of namespace std with this name.
[[nodiscard]] bool is_std_class(const clang::CXXRecordDecl* record, llvm::StringRef name);
/// The argument of std::move, std::forward or std::as_const; else null.
[[nodiscard]] const clang::Expr* moved_argument(const clang::Expr* expression);
/// True for a declaration directly in namespace pl (or pld).
[[nodiscard]] bool is_in_pl(const clang::Decl* declaration);
[[nodiscard]] bool is_in_pld(const clang::FunctionDecl* function);
[[nodiscard]] bool is_pl_class(const clang::CXXRecordDecl* record, llvm::StringRef name);
/// The expression without parentheses, temporaries, cleanups and conversions that change nothing.
[[nodiscard]] const clang::Expr* bare(const clang::Expr* expression);

// --- modified.cpp
/// True when `body` may change `variable`, or keep a reference through which it could.
[[nodiscard]] bool may_modify(const clang::Stmt* body, const clang::ValueDecl* variable);
/// True when `variable` may be changed under another name: by a reference or a lambda inside `function_body`.
[[nodiscard]] bool has_alias(const clang::Stmt* function_body, const clang::ValueDecl* variable);

/// A lambda object inside a kernel: its by-copy captures were given variables when it was made.
struct Binding;
struct ClosureValue {
  const clang::CXXRecordDecl* record = nullptr;
  std::map<const clang::ValueDecl*, Binding> copies;
};
struct CompoundValue;
/// What a C++ name stands for. Copies share closures and the parts of a compound: `Walker::copy_of` makes another.
struct Binding {
  Binding() = default;
  Binding(codegen::Expr value) : expression(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Binding(codegen::Expr value, std::shared_ptr<ClosureValue> made)
      : expression(std::move(value)), closure(std::move(made)) {}
  codegen::Expr expression;
  std::shared_ptr<ClosureValue> closure;
  std::shared_ptr<CompoundValue> compound;
};
/// A struct, pair, tuple or array inside a kernel: it exists at capture time only, its parts are variables.
struct CompoundValue {
  std::vector<Binding> parts;
};

class Walker {
 public:
  Walker(clang::ASTContext& context, const Site& site, const clang::CXXMethodDecl* call_operator);
  [[nodiscard]] codegen::Kernel walk();
  /// After walk(), of a pl::at body: what it captures, in the closure's order.
  [[nodiscard]] std::vector<NamedCapture> named_captures() const { return named_; }

 private:
  using Expr = codegen::Expr;
  using Statement = codegen::Statement;
  using Op = codegen::Op;
  using DType = codegen::DType;
  using Statements = std::vector<Statement>;

  // --- walker.cpp: parameters, captures, variables, locations
  void bind_parameters();
  void bind_captures();
  void bind_named_captures();  // at_body.cpp
  void bind_named_capture(const clang::LambdaCapture& capture, const clang::FieldDecl* field);
  void bind_captured_field(const clang::ValueDecl* variable, const clang::FieldDecl* field,
                           std::uint64_t base, clang::SourceLocation where);
  [[noreturn]] void refuse(const clang::Stmt* where, const std::string& what, const std::string& mend) const;
  /// Of what stands in a system header: where the user's code calls it.
  [[noreturn]] void refuse_at(clang::SourceRange range, const std::string& what,
                              const std::string& mend) const;
  [[noreturn]] void refuse(clang::SourceLocation where, const std::string& what,
                           const std::string& mend) const;
  [[nodiscard]] codegen::SourceLocation location(clang::SourceLocation where);
  codegen::VariableId add_variable(std::string name, codegen::Type type, codegen::VariableKind kind,
                                   clang::SourceLocation where);
  codegen::VariableId extent_variable(const std::string& name, clang::SourceLocation where);
  [[nodiscard]] Expr variable(codegen::VariableId id, clang::SourceLocation where);
  [[nodiscard]] codegen::Type type_of(clang::QualType type, clang::SourceLocation where);
  [[nodiscard]] codegen::Type type_of(const Meaning& meaning, clang::SourceLocation where);
  /// The variable of a pl::Dynamic value, made at its first use.
  codegen::VariableId extent_variable(const clang::APValue& value, clang::SourceLocation where);

  // --- statements.cpp, loops.cpp, choice.cpp
  void statement(const clang::Stmt* stmt);
  void statements_into(Statements& list, const clang::Stmt* stmt);
  void declaration(const clang::Decl* decl);
  void local_variable(const clang::VarDecl* variable);
  void return_statement(const clang::ReturnStmt* stmt);
  void if_statement(const clang::IfStmt* stmt);
  void switch_statement(const clang::SwitchStmt* stmt);
  void while_statement(const clang::WhileStmt* stmt);
  void do_statement(const clang::DoStmt* stmt);
  void for_statement(const clang::ForStmt* stmt);
  [[nodiscard]] bool counted_for(const clang::ForStmt* stmt);
  void general_for(const clang::ForStmt* stmt);
  void range_for(const clang::CXXForRangeStmt* stmt);
  void array_for(const clang::CXXForRangeStmt* stmt, const Binding& array, clang::QualType element_type);
  void loop_body(Statement& loop, const clang::Stmt* body);
  [[nodiscard]] Expr loop_bound(Expr bound, clang::SourceLocation where);
  /// While (condition), where evaluating the condition may need statements of its own.
  void general_loop(clang::SourceLocation where, const clang::VarDecl* condition_variable,
                    const clang::Expr* condition, const clang::Stmt* body, const clang::Expr* step,
                    bool body_first);
  void emit(Statement statement) { current_->push_back(std::move(statement)); }
  void emit_assign(codegen::VariableId variable, Expr value, clang::SourceLocation where);
  void emit_effect(const clang::Expr* expression);

  // --- expressions.cpp
  [[nodiscard]] Expr expression(const clang::Expr* expression);
  [[nodiscard]] Expr expression_unfolded(const clang::Expr* expression);
  [[nodiscard]] std::optional<Expr> fold(const clang::Expr* expression);
  [[nodiscard]] Expr cast_expression(const clang::CastExpr* cast);
  [[nodiscard]] Expr name_expression(const clang::DeclRefExpr* name);
  [[nodiscard]] Expr unary(const clang::UnaryOperator* op);
  [[nodiscard]] Expr binary(const clang::BinaryOperator* op);
  [[nodiscard]] Expr short_circuit(const clang::Expr* where, const clang::Expr* left,
                                   const clang::Expr* right, bool is_and);
  [[nodiscard]] Expr conditional(const clang::AbstractConditionalOperator* op);
  [[nodiscard]] Expr compound_assignment(const clang::CompoundAssignOperator* op);
  [[nodiscard]] Expr construct(const clang::CXXConstructExpr* construct);
  [[nodiscard]] Expr condition(const clang::Expr* expression);
  /// Operands from left to right; what an earlier one read is kept when a later one has effects.
  [[nodiscard]] std::vector<Expr> operands(llvm::ArrayRef<const clang::Expr*> expressions);
  [[nodiscard]] Expr snapshot(Expr value, const std::string& name, clang::SourceLocation where);
  [[nodiscard]] std::optional<codegen::VariableId> place(const clang::Expr* expression);
  [[nodiscard]] Expr convert(Expr value, DType dtype, clang::SourceLocation where);
  [[nodiscard]] Expr to_bool(Expr value, clang::SourceLocation where);
  [[nodiscard]] Expr make(Op op, codegen::Type type, std::vector<Expr> operands, clang::SourceLocation where);
  [[nodiscard]] Expr constant(const clang::APValue& value, clang::QualType type, clang::SourceLocation where);
  /// Every dtype of the language is built.
  void require_built(DType, clang::SourceLocation) const {}
  [[nodiscard]] Expr int64(std::int64_t value, clang::SourceLocation where);
  [[nodiscard]] Expr number(DType dtype, std::int64_t value, clang::SourceLocation where);
  [[nodiscard]] Expr boolean(bool value, clang::SourceLocation where);
  [[nodiscard]] static Expr negate(Expr value);

  // --- compound.cpp: structs, pairs, tuples, arrays
  [[nodiscard]] Binding value(const clang::Expr* expression);
  [[nodiscard]] std::vector<Binding> values(llvm::ArrayRef<const clang::Expr*> expressions);
  [[nodiscard]] Binding compound_value(const clang::Expr* expression);
  [[nodiscard]] Binding compound_constant(const clang::APValue& value, clang::QualType type,
                                          clang::SourceLocation where);
  [[nodiscard]] Binding compound_list(const clang::Expr* where, clang::QualType type,
                                      llvm::ArrayRef<const clang::Expr*> inits);
  [[nodiscard]] Binding compound_construct(const clang::CXXConstructExpr* made, clang::QualType type);
  void initialise(const clang::CXXConstructorDecl* constructor);
  [[nodiscard]] Binding zero(clang::QualType type, const clang::Expr* where);
  [[nodiscard]] Binding converted(Binding value, clang::QualType type, clang::SourceLocation where);
  /// New variables: without values, or with those of `value`.
  [[nodiscard]] Binding storage(clang::QualType type, const std::string& name, clang::SourceLocation where);
  [[nodiscard]] Binding copy_of(const Binding& value, clang::QualType type, const std::string& name,
                                clang::SourceLocation where);
  void assign_parts(const Binding& target, const Binding& value, clang::SourceLocation where);
  [[nodiscard]] Binding chosen_compound(const clang::AbstractConditionalOperator* op);
  void decompose(const clang::DecompositionDecl* declared, std::optional<Binding> whole = std::nullopt);
  [[nodiscard]] std::optional<Binding> compound_call(const clang::CallExpr* call);

  // --- element.cpp: what an lvalue names, and elements of arrays
  /// The object that an lvalue names, where that is known now; an index that only the run knows gives nothing.
  [[nodiscard]] std::optional<Binding> find(const clang::Expr* expression);
  struct Subscript {
    const clang::Expr* array = nullptr;
    const clang::Expr* index = nullptr;  ///< null: `position`
    std::int64_t position = 0;
  };
  [[nodiscard]] std::optional<Subscript> subscript_of(const clang::Expr* expression);
  [[nodiscard]] Binding part(const clang::MemberExpr* member);
  [[nodiscard]] Binding element(const clang::Expr* where, const Subscript& subscript);
  [[nodiscard]] Binding chosen(const std::vector<Binding>& elements, const Expr& position,
                               clang::SourceLocation where);
  /// A position in an array of `size`: constant ones are checked now, others when the kernel runs.
  [[nodiscard]] Expr checked_position(const clang::Expr* where, const Subscript& subscript, std::size_t size);
  /// Every object an lvalue may name, each with the condition that it is this one (none: certainly).
  struct Place {
    std::optional<Expr> condition;
    Binding object;
  };
  [[nodiscard]] bool calls_helper(const clang::CallExpr* call) const;
  [[nodiscard]] std::vector<Place> places(const clang::Expr* expression);
  [[nodiscard]] Expr read(const std::vector<Place>& from, clang::SourceLocation where);
  Expr assign(const clang::Expr* target, const std::vector<Place>& to, Expr value,
              clang::SourceLocation where);
  Expr assign(const clang::Expr* target, Expr value, clang::SourceLocation where);

  // --- calls.cpp, operations.cpp: calls
  [[nodiscard]] Binding call(const clang::CallExpr* call);
  [[nodiscard]] Binding kernel_call(const clang::CXXOperatorCallExpr* call);
  [[nodiscard]] Expr pl_function(const clang::CallExpr* call, const clang::FunctionDecl* function);
  [[nodiscard]] Expr pl_operator(const clang::CXXOperatorCallExpr* call);
  [[nodiscard]] Expr pl_member(const clang::CXXMemberCallExpr* call);
  [[nodiscard]] Expr operation(Op op, const clang::Expr* where, llvm::ArrayRef<const clang::Expr*> arguments);
  void unify_scalars(Op op, const clang::Expr* where, llvm::ArrayRef<const clang::Expr*> arguments,
                     std::vector<Expr>& operands);
  void check_beside_tile(const clang::Expr* argument, Expr& operand, const std::vector<Expr>& operands);
  [[nodiscard]] Expr load(const clang::CallExpr* call);
  [[nodiscard]] Expr store(const clang::CallExpr* call);
  [[nodiscard]] Expr index_list(const clang::Expr* expression);
  void check_region(const clang::Expr* where, const Expr& tensor, const Expr& list);
  // tile_calls.cpp
  [[nodiscard]] Expr tile_call(Op op, const clang::CallExpr* call);
  [[nodiscard]] Expr linear(Op op, const clang::CallExpr* call);
  [[nodiscard]] Expr concat(const clang::CallExpr* call);
  [[nodiscard]] Expr int64_operand(Expr value, const clang::CallExpr* call);
  [[nodiscard]] Expr make_tile_call(Op op, const clang::CallExpr* call,
                                    llvm::ArrayRef<const clang::Expr*> arguments);
  // valid_calls.cpp
  [[nodiscard]] static const clang::Expr* field_of(const clang::Expr* options, llvm::StringRef field);
  void load_options(const clang::Expr* options, Expr& load);
  [[nodiscard]] Expr valid_call(const clang::CallExpr* call, bool fills);
  // index_calls.cpp
  [[nodiscard]] Expr index_call(Op op, const clang::CallExpr* call, codegen::Type type);
  [[nodiscard]] std::optional<Binding> sorted_call(const clang::CallExpr* call,
                                                   const clang::FunctionDecl* function);
  [[nodiscard]] Expr read_element(const clang::CallExpr* call);
  Expr write_element(const clang::CallExpr* call);
  [[nodiscard]] Expr element_list(const clang::Expr* offsets, const Expr& of);
  [[nodiscard]] Expr field_expression(const clang::Expr* options, llvm::StringRef field);
  [[nodiscard]] std::int32_t constant_integer(const clang::Expr* argument, const std::string& what);
  [[nodiscard]] std::optional<std::int64_t> option(const clang::Expr* options, llvm::StringRef field);
  [[nodiscard]] codegen::CastMode cast_mode(const clang::Expr* options);
  [[nodiscard]] std::optional<Expr> math_function(const clang::CallExpr* call,
                                                  const clang::FunctionDecl* function);

  // remote_calls.cpp
  Expr remote_call(const clang::CallExpr* call, const clang::FunctionDecl* function);
  [[nodiscard]] const clang::Expr* option_member(const clang::Expr* options, llvm::StringRef member);
  const clang::Expr* signal_cells(const clang::Expr* options);
  [[nodiscard]] std::int64_t constant_option(const clang::Expr* options, llvm::StringRef member);
  [[nodiscard]] std::vector<Expr> evaluated(const std::vector<std::function<Expr()>>& parts,
                                            clang::SourceLocation where);

  // --- inlining.cpp
  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    clang::SourceLocation called_at;
    std::int32_t block = 0;
    std::optional<Binding> result;  ///< variables that each return assigns
    std::optional<Binding> direct;  ///< the value of the only, last return
    std::optional<Binding> object;  ///< of a member function
    clang::QualType type;           ///< of what it returns
  };
  [[nodiscard]] Binding inline_call(const clang::Expr* where, const clang::FunctionDecl* function,
                                    llvm::ArrayRef<const clang::Expr*> arguments,
                                    const std::shared_ptr<ClosureValue>& closure,
                                    std::optional<Binding> object = std::nullopt);
  void returned_value(const clang::Expr* returned, clang::SourceLocation where);
  void require_no_reference(clang::QualType type, const clang::Expr* object);
  void bind_argument(const clang::ParmVarDecl* parameter, const clang::Expr* argument,
                     const clang::Stmt* body);
  [[nodiscard]] std::shared_ptr<ClosureValue> closure_value(const clang::Expr* expression);
  [[nodiscard]] const clang::FunctionDecl* helper_target(const clang::CallExpr* call,
                                                         const clang::CXXRecordDecl* closure);

  clang::ASTContext& context_;
  const Site& site_;
  const clang::CXXMethodDecl* call_operator_;
  codegen::Kernel kernel_;
  std::map<const clang::ValueDecl*, Binding> bindings_;
  std::map<std::string, codegen::VariableId> extents_;
  std::map<std::string, std::uint32_t> files_;
  std::set<codegen::VariableId>
      narrow_counters_;  ///< int64 loop counters that stand for an int, unsigned, ...
  std::vector<NamedCapture> named_;
  Statements* current_ = nullptr;
  std::vector<Frame> frames_;
  /// 0: the innermost loop, else the Block of a switch or of a loop over an array.
  std::vector<std::int32_t> break_targets_, continue_targets_;
  std::int32_t next_block_ = 1;
  std::optional<codegen::SourceLocation>
      composed_;  ///< the user's call of the pl::composed function being inlined
};

}  // namespace trilith::capture

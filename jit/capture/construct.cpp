// jit/capture/construct.cpp -- objects of the language made from others: scalars, extents, tiles, views.
#include "jit/capture/walker.hpp"

namespace trilith::capture {

codegen::Expr Walker::construct(const clang::CXXConstructExpr* made) {
  const clang::SourceLocation where = made->getExprLoc();
  const Meaning meaning = meaning_of(made->getType(), context_);
  const std::string type = made->getType().getUnqualifiedType().getAsString(context_.getPrintingPolicy());
  switch (meaning.kind) {
    case Kind::Scalar: {
      if (made->getNumArgs() == 0) return convert(boolean(false, where), meaning.dtype, where);
      Expr value = expression(made->getArg(0));
      if (!value.type.is_scalar()) break;
      return convert(std::move(value), meaning.dtype, where);
    }
    case Kind::Tile:
    case Kind::Tensor: {
      if (made->getNumArgs() == 0)
        refuse(made, "a '" + type + "' without a value", "start from pl::load, pl::zeros or pl::full");
      Expr value = expression(made->getArg(0));
      if (value.type.kind !=
          (meaning.kind == Kind::Tile ? codegen::TypeKind::Tile : codegen::TypeKind::Tensor))
        break;
      return value;
    }
    case Kind::Index: return index_list(made);
    case Kind::Kernel:
      refuse(made, "a kernel as a value inside a kernel", "call kernels from a pl::jit entry");
    default: break;
  }
  refuse(made, "an object of type '" + type + "' in a kernel",
         "use pl::Tile, pl::Tensor, pl::Scalar, bool, an integer, pl::half, pl::bfloat16, float or double");
}

}  // namespace trilith::capture

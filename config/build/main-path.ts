import { join, relative } from 'node:path';
import ts from 'typescript';

/** One call that passes the request context, in the order of reading. */
interface Step {
  readonly name: string;
  /** Path of the file that has the function, from the root of the repository. */
  readonly file: string;
  /** True if the caller is in another file, to which the reader returns. */
  readonly isReturn: boolean;
}

const root = join(import.meta.dirname, '../..');

/** Half of the numbers before the restructuring, which were 31 and 37. */
const filesMax = 15;
const returnsMax = 18;

const steps = mainPath();
const files = new Set(['core/pipeline/run.ts', ...steps.map(({ file }) => file)]);
const returns = steps.filter(({ isReturn }) => isReturn).length;
if (process.argv.includes('--list'))
  for (const { name, file, isReturn } of steps) process.stdout.write(`${isReturn ? '>' : ' '} ${file}  ${name}\n`);
process.stdout.write(`main path: ${files.size} files (at most ${filesMax}), ${returns} returns (at most ${returnsMax})\n`);
if (files.size > filesMax || returns > returnsMax) process.exitCode = 1;

/**
 * Follows the request context from `run()` in core/pipeline/run.ts through every call that passes it, in source order and each function
 * once. Calls of hooks and of functions behind an interface are not followed, because they have no body at the call.
 */
function mainPath(): readonly Step[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const start = join(root, 'core/pipeline/run.ts');
  const program = ts.createProgram([start], options);
  const checker = program.getTypeChecker();
  const steps: Step[] = [];
  const seen = new Set<ts.Node>();
  const first = program.getSourceFile(start)?.statements.find((one) => ts.isFunctionDeclaration(one) && one.name?.text === 'run');
  if (!first) throw new Error('core/pipeline/run.ts: function run() not found');
  follow(first);
  return steps;

  function follow(declaration: ts.Node): void {
    const walk = (node: ts.Node): void => {
      ts.forEachChild(node, walk);
      if (!(ts.isCallExpression(node) || ts.isNewExpression(node)) || !node.arguments?.some(isContext)) return;
      const callee = calleeOf(node);
      if (callee === null || seen.has(callee)) return;
      seen.add(callee);
      const file = relative(root, callee.getSourceFile().fileName);
      const isReturn = callee.getSourceFile() !== declaration.getSourceFile();
      steps.push({ name: node.expression.getText(), file, isReturn });
      follow(callee);
    };
    walk(declaration);
  }

  function isContext(argument: ts.Expression): boolean {
    return checker.getTypeAtLocation(argument).symbol?.name === 'RequestContext';
  }

  /** Returns the declaration of the called function, if it has a body here. */
  function calleeOf(node: ts.CallExpression | ts.NewExpression): ts.Node | null {
    const symbol = checker.getSymbolAtLocation(node.expression);
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    for (const declaration of target?.declarations ?? []) {
      if (declaration.getSourceFile().fileName.includes('node_modules')) continue;
      if (ts.isFunctionLike(declaration) && (declaration as ts.FunctionLikeDeclaration).body) return declaration;
      if (ts.isClassDeclaration(declaration)) return declaration;
      if (ts.isVariableDeclaration(declaration) && declaration.initializer && ts.isFunctionLike(declaration.initializer))
        return declaration.initializer;
    }
    return null;
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../../core/contract/plugin');

// Authors of plugins see these comments in their editor. Verdicts have one for the whole type.
it.each(['plugin.ts', 'plugin-context.ts', 'guardrails/plugin-check.ts'])('%s documents its types and their members', (file) => {
  const source = ts.createSourceFile(file, readFileSync(join(folder, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const types = source.statements.filter((node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node));
  const isHidden = (node: ts.Statement) => !ts.canHaveModifiers(node) || ts.getModifiers(node) === undefined;
  const undocumented = types
    .filter((type) => !isHidden(type))
    .flatMap((type) => [type, ...(ts.isInterfaceDeclaration(type) ? type.members.filter((each) => !ts.isSetAccessor(each)) : [])])
    .filter((node) => ts.getJSDocCommentsAndTags(node).length === 0)
    .map((node) => node.getText().split('\n')[0]);
  expect([types.length > 3, undocumented]).toEqual([true, []]);
});

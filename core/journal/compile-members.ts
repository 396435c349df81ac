import type { LineBuffer } from './line-buffer.ts';

/** Names of members of an object. They are of this repository, not of a request. */
export type MemberNames<Item> = readonly (keyof Item & string)[];

/*
 * The functions below return functions whose code names every member, generated from lists. Loops over the lists took as long as `JSON.stringify`
 * of the whole record.
 */

/** Compiles a function that copies the members, in this order. */
export function compilePick<Item>(names: MemberNames<Item>): (from: Item) => Partial<Item> {
  return compile('from', `({ ${names.map((name) => `${name}: from.${name}`).join(', ')} })`);
}

/** Compiles a function that compares the members of two objects with `===`. */
export function compileEquals<Item>(names: MemberNames<Item>): (one: Partial<Item>, other: Item) => boolean {
  return compile('one, other', names.map((name) => `one.${name} === other.${name}`).join(' && '));
}

/** Compiles a function that returns true if all of these members are null, or all of them undefined. */
export function compileAllAre<Item>(value: null | undefined, names: MemberNames<Item>): (item: Item) => boolean {
  return compile('item', names.map((name) => `item.${name} === ${value}`).join(' && '));
}

/** Compiles a function that adds the members, which are numbers, null or undefined, each behind a comma. */
export function compileNumbers<Item>(names: MemberNames<Item>): (lines: LineBuffer, item: Item) => void {
  const bytes = names.map((name) => Buffer.from(`,"${name}":`));
  const constants = names.map((name, i) => `${name} = bytes[${i}]`).join(', ');
  const calls = names.map((name) => `lines.member(${name}, item.${name});`).join(' ');
  return new Function('bytes', `const ${constants}; return (lines, item) => { ${calls} };`)(bytes);
}

/** Compiles a function that returns the members that are not undefined as JSON, each behind a comma. */
export function compileText<Item>(names: MemberNames<Item>): (item: Item) => string {
  const member = (name: string) =>
    `if (item.${name} !== undefined) text += item.${name} === null ? ',"${name}":null' : ',"${name}":' + JSON.stringify(item.${name});`;
  return new Function('item', `let text = ''; ${names.map(member).join(' ')} return text;`) as (item: Item) => string;
}

function compile<Compiled>(parameters: string, expression: string): Compiled {
  return new Function(`return (${parameters}) => ${expression};`)();
}

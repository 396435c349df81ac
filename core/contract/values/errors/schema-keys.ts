/** The parts of a valibot schema that lead to others. */
interface SchemaNode {
  readonly type?: string;
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly options?: readonly SchemaNode[];
  readonly wrapped?: SchemaNode;
  readonly item?: SchemaNode;
  readonly value?: SchemaNode;
  /** Returns the schema behind `lazy`. No lazy schema of this service depends on the input. */
  readonly getter?: (input: unknown) => SchemaNode;
}

/** Returns the keys that an object at this path of the schema's input may have. Looked up for error messages only. */
export function keysAt(schema: unknown, path: readonly unknown[]): string[] {
  const nodes = path.reduce<SchemaNode[]>(
    (found, key) => found.flatMap(objectsOf).flatMap((node) => stepInto(node, key)),
    [schema as SchemaNode],
  );
  return [...new Set(nodes.flatMap(objectsOf).flatMap((node) => Object.keys(node.entries ?? {})))];
}

/** The schemas behind `optional`, `nullable`, `lazy` and unions. */
function objectsOf(node: SchemaNode): SchemaNode[] {
  if (node.wrapped) return objectsOf(node.wrapped);
  if (node.getter) return objectsOf(node.getter(undefined));
  if (Array.isArray(node.options)) return node.options.filter((option) => typeof option === 'object').flatMap(objectsOf);
  return [node];
}

function stepInto(node: SchemaNode, key: unknown): SchemaNode[] {
  if (typeof key === 'number') return node.item ? [node.item] : [];
  const next = node.entries?.[String(key)] ?? node.value;
  return typeof next === 'object' ? [next] : [];
}

interface SentCondition {
  readonly key: string;
  readonly value: string | readonly string[];
  readonly excludes?: string | readonly string[] | undefined;
}

/**
 * Returns the paths of models in conditions that can match no call. Gateways compare `@<provider type>/<model>`, so a name without the
 * provider never matches.
 */
export function unmatchedModels(conditions: readonly SentCondition[] = []): string[] {
  return conditions.flatMap(({ key, value, excludes = [] }, at) => {
    if (key !== 'model') return [];
    return [...pathsIn(`conditions[${at}].value`, value), ...pathsIn(`conditions[${at}].excludes`, excludes)];
  });
}

function pathsIn(path: string, sent: string | readonly string[]): string[] {
  if (typeof sent === 'string') return sent === '*' || isFullName(sent) ? [] : [path];
  return sent.flatMap((one, at) => (isFullName(one) ? [] : [`${path}[${at}]`]));
}

function isFullName(model: string): boolean {
  return /^@[^/]+\/./.test(model);
}

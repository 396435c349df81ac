type Search<Field extends string> = { $or?: { [Name in Field]?: { $ilike: string } }[] };

/** Returns the pattern of `ilike` for texts that contain this one, whose own wildcards have no meaning. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Returns the filter of a list for rows with this text in one of the fields. Without a text, it selects all rows. */
export function searchIn<Field extends string>(text: string | undefined, ...fields: readonly Field[]): Search<Field> {
  if (text === undefined || text === '') return {};
  const part = { $ilike: containing(text) };
  return { $or: fields.map((field) => ({ [field]: part }) as { [Name in Field]?: typeof part }) };
}

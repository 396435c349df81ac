/** Returns the name of a field without differences of snake, kebab and camel case. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

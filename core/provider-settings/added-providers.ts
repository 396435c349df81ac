import type { ProviderDeclaration } from './declaration.ts';

const added: ProviderDeclaration[] = [];
let isRead = false;

/**
 * Adds third-party providers to those of this process. Schemas are derived from the list when it is read, so this throws an Error once it
 * was. A provider that was added before is left out.
 */
export function addProviders(declarations: readonly ProviderDeclaration[]): void {
  const news = declarations.filter((declaration) => !added.includes(declaration));
  if (news.length > 0 && isRead) throw new Error('providers must be added before the gateway or the test kit is imported');
  added.push(...news);
}

/** Returns the third-party providers of this process. None can be added afterwards. */
export function addedProviders(): readonly ProviderDeclaration[] {
  isRead = true;
  return added;
}

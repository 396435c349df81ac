/** Returns a function that returns the scopes of an action which organisation keys and workspace keys may both have. */
export function levelScopes(resource: string): (action: string) => string[] {
  return (action) => [`organisation_${resource}.${action}`, `workspace_${resource}.${action}`];
}

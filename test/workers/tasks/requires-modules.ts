/** Returns true if `require` loads modules in this thread. */
export default function requiresModules(): boolean {
  return process.features.require_module;
}

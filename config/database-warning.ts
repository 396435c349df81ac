import type { Settings } from './settings.ts';

/** Returns a warning if a control plane for gateways of other machines has the embedded database, which no other control plane sees. Else null. */
export function databaseWarning({ role, databaseUrl }: Pick<Settings, 'role' | 'databaseUrl'>): string | null {
  if (role !== 'control-plane' || databaseUrl !== null) return null;
  return (
    'DATABASE_URL: not set, so this control plane stores everything in an embedded database in DATA_DIR. A second control plane would have other ' +
    'keys, and without the folder all is lost. Set DATABASE_URL to a PostgreSQL server'
  );
}

import type { SettingValues } from './settings-table.ts';

/**
 * Process settings, read once at start from the environment. The table types the values: an optional setting is null if it is unset,
 * a list is empty, and URLs have no trailing slash.
 */
export interface Settings extends SettingValues {
  /** The base64 text of `clusterKey`: the bearer of the internal API. */
  readonly clusterKeyText: string;
  /** Files of DATABASE_URL and NATS_URL, which each new connection reads; null: the values are from the environment itself. */
  readonly databaseUrlFile: string | null;
  readonly natsUrlFile: string | null;
}

import { batches } from './settings-table/batches.ts';
import { cache } from './settings-table/cache.ts';
import { controlPlane, keys, people } from './settings-table/control-plane.ts';
import { deployments } from './settings-table/deployments.ts';
import type { Setting } from './settings-table/kinds.ts';
import { objectStore } from './settings-table/object-store.ts';
import { openTelemetry } from './settings-table/open-telemetry.ts';
import { bodiesInLogs, observation, plugins, shutdown } from './settings-table/operation.ts';
import { realtime } from './settings-table/realtime.ts';
import { limits, providers } from './settings-table/requests.ts';
import { edge, server } from './settings-table/server.ts';
import { workers } from './settings-table/workers.ts';

export type { Setting };

/** The settings in the groups and the order that `--help` and docs/settings.md show. */
export const settingGroups: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  Server: server,
  'Control plane': controlPlane,
  'Keys and first start': keys,
  'People and mail': people,
  'TLS, CORS, proxies and headers': edge,
  'Providers and configs': providers,
  'Limits and memory': limits,
  Realtime: realtime,
  'Files and batches': batches,
  'Logs and metrics': observation,
  'Bodies in logs': bodiesInLogs,
  'Object store': objectStore,
  OpenTelemetry: openTelemetry,
  Deployments: deployments,
  Shutdown: shutdown,
  Plugins: plugins,
  Cache: cache,
  'Worker threads': workers,
};

/** Every setting by its name in `Settings`. */
export const settingsTable = {
  ...server,
  ...controlPlane,
  ...keys,
  ...people,
  ...edge,
  ...providers,
  ...limits,
  ...realtime,
  ...batches,
  ...observation,
  ...bodiesInLogs,
  ...objectStore,
  ...openTelemetry,
  ...deployments,
  ...shutdown,
  ...plugins,
  ...cache,
  ...workers,
};

export type SettingKey = keyof typeof settingsTable;

/** Values of the settings by name, as the table's rows type them. */
export type SettingValues = {
  readonly [Key in SettingKey]: (typeof settingsTable)[Key] extends Setting<infer Value> ? Value : never;
};

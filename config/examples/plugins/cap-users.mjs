import { DatabaseSync } from 'node:sqlite';
import { definePlugin, GatewayError } from 'svc-gateway/plugin';
import * as v from 'valibot';

/**
 * Rejects requests of an end user, metadata `user`, whose requests have cost `usdPerDay` since midnight (UTC). All gateway processes of a machine
 * count in one SQLite file. Requests in flight are not counted, so that a user may exceed the cap by their cost.
 * Load it with `CAP_USERS_FILE=/var/lib/svc/caps.db PLUGINS=config/examples/plugins/cap-users.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'cap-users',
  stage: 'limits',
  config: v.optional(
    v.strictObject({ usdPerDay: v.number(), usdPerMillionTokens: v.strictObject({ input: v.number(), output: v.number() }) }),
  ),
  example: { usdPerDay: 1, usdPerMillionTokens: { input: 2, output: 8 } },

  onConfig(config, _scope, services) {
    if (!config) return null;
    const { read, add } = openTable();
    const day = () => new Date(services.clock.now()).toISOString().slice(0, 10);
    return {
      onRequest({ identity, metadata: { user } }) {
        if (!user) throw new GatewayError('bad_request', { message: 'Send the key user in the metadata', param: 'metadata' });
        if ((read.get(identity.workspaceId, user, day())?.usd ?? 0) < config.usdPerDay) return;
        throw new GatewayError('forbidden', { message: `The requests of ${user} have reached the cap of today` });
      },
      // Usage is null for requests without a call, such as hits of the cache.
      onEnd({ identity, metadata: { user }, usage }) {
        if (!user || !usage) return;
        const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
        const { usdPerMillionTokens: price } = config;
        // Tokens of reasoning are a part of the output.
        add.run(identity.workspaceId, user, day(), (input * price.input + usage.outputTokens * price.output) / 1_000_000);
      },
    };
  },
});

let table = null;

/** Opens the file once per process: several configs may use the plugin. */
function openTable() {
  if (table) return table;
  const file = process.env.CAP_USERS_FILE;
  if (!file) throw new Error('set CAP_USERS_FILE to the path of a file that the plugin may create');
  const database = new DatabaseSync(file);
  // Other processes write too: wait for them. WAL without a sync per commit keeps the main thread from waiting for the disk.
  database.exec(`PRAGMA busy_timeout = 1000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS spent (workspace TEXT, user TEXT, day TEXT, usd REAL, PRIMARY KEY (workspace, user, day))`);
  table = {
    read: database.prepare('SELECT usd FROM spent WHERE workspace = ? AND user = ? AND day = ?'),
    add: database.prepare('INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET usd = usd + excluded.usd'),
  };
  return table;
}

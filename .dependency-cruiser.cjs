/** Who may import whom: the table of ARCHITECTURE.md#imports as rules. */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  from: { path: from },
  to: { path: '^(core|plugins|admin|workers|config|bench|test)/', pathNot: allowed },
});
const library = (name, module, owner) => ({
  name,
  severity: 'error',
  from: { path: '^(core|plugins|admin|workers|config)/', pathNot: owner },
  to: { path: `node_modules/${module}(/|$)` },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: 'uWebSockets' } },
    only('config-stands-alone', '^config/', '^config/'),
    only('contract-stands-alone', '^core/contract/', '^(core/contract/|config/did-you-mean)'),
    only('http-edge', '^core/http/', '^(core/(http|contract)/|config/)'),
    only('upstream-edge', '^core/upstream/', '^(core/(upstream|contract)/|config/)'),
    only('snapshot-edge', '^core/documents/', '^(core/(snapshot|contract)/|config/)'),
    only('journal', '^core/journal/', '^(core/(journal|contract)/|config/)'),
    only('realtime', '^core/realtime/', '^core/(realtime|contract)/'),
    only('jwt', '^core/jwt/', '^core/(jwt|contract)/'),
    only('batches', '^core/batches/', '^core/(batches|contract)/'),
    only('secret-managers', '^core/secret-managers/', '^core/(secret-managers|contract|providers/shared)/'),
    only('health', '^core/circuits/', '^(core/(health|contract)/|config/)'),
    only('leases', '^core/leases/', '^(core/(leases|contract)/|config/)'),
    only('telemetry', '^core/telemetry/', '^(core/(telemetry|contract)/|config/)'),
    only('supervisor', '^core/supervisor/', '^(core/(supervisor|contract|telemetry)/|config/)'),
    only('plugin-host', '^core/plugin-host/', '^(core/(plugin-host|contract)/|config/)'),
    only('watchdog', '^core/watchdog/', '^core/(watchdog|contract)/'),
    only('pipeline', '^core/pipeline/', '^(core/(pipeline|contract)/|config/did-you-mean)'),
    only('endpoints', '^core/endpoints/', '^core/(endpoints|contract)/'),
    {
      name: 'provider-folders',
      severity: 'error',
      from: { path: '^core/providers/([^/]+)/' },
      to: { path: '^(core|plugins|admin|workers|config|bench|test)/', pathNot: '^core/(contract/|providers/(shared|$1)/)' },
    },
    {
      name: 'plugin-folders',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/' },
      to: { path: '^(core|plugins|admin|workers|config|bench|test)/', pathNot: '^(core/contract/|plugins/$1/)' },
    },
    only('workers', '^workers/', '^(workers/|core/contract/)'),
    only('admin', '^admin/', '^(admin/|core/contract/|config/|plugins/[^/]+/schema\\.ts|core/providers/[^/]+/settings\\.ts)'),
    library('uws-in-http-only', '(uWebSockets\\.js|@uwsjs/.*)', '^core/http/'),
    library('undici-in-upstream-only', 'undici', '^core/upstream/'),
    library('ws-in-upstream-only', 'ws', '^core/upstream/'),
    library('nats-at-the-bus-only', '@nats-io/.*', '^(core/documents|admin/publish)/'),
    library('piscina-in-workers-only', 'piscina', '^workers/'),
    library('jose-in-jwt-only', 'jose', '^core/jwt/'),
    library('orm-in-admin-only', '@mikro-orm/.*', '^admin/'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(fixtures|bench/peers/node_modules)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};

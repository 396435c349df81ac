const { adminRules } = require('./config/admin-imports.cjs');

/** Who may import whom: the table of docs/imports.md as rules. */
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
/** What admin/ may import outside of the rules inside it. */
const adminImports =
  '^(admin/|core/(contract|log|nats|provider-host|provider-settings|telemetry)/|core/prompts/(compile-template|template-[a-z]+)\\.ts|core/journal/mask-content\\.ts|config/|plugins/[^/]+/schema\\.ts|core/providers/declarations\\.ts)';

module.exports = {
  forbidden: [
    // Declarations load their adapters, which import the declarations: the dynamic import runs after both are there.
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only', 'dynamic-import'] } },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: 'uWebSockets' } },
    only('config-stands-alone', '^config/(?!examples/)', '^config/'),
    only(
      'examples',
      '^config/examples/',
      '^(config/examples/|core/(contract/plugin/plugin|provider-host/provider|providers/provider-adapter|test-kit/))',
    ),
    only('values', '^core/contract/values/', '^(core/contract/(values/|plugin/sessions/web-socket)|config/did-you-mean)'),
    only('contract', '^core/contract/', '^(core/contract/|config/did-you-mean)'),
    only('http-edge', '^core/http/', '^(core/(http|contract)/|config/)'),
    only('upstream-edge', '^core/upstream/', '^(core/(upstream|contract)/|config/)'),
    only('documents-edge', '^core/documents/', '^(core/(documents|nats|contract)/|config/)'),
    only('nats', '^core/nats/', '^core/(nats|contract)/'),
    only('log', '^core/log/', '^(core/(log|contract)/|config/)'),
    only('journal', '^core/journal/', '^(core/(journal|contract)/|config/)'),
    only('jwt', '^core/jwt/', '^core/(jwt|contract)/'),
    only('reply-cache', '^core/reply-cache/', '^core/(reply-cache|contract)/'),
    only('own-store', '^core/own-store/', '^core/(own-store|contract)/'),
    only('provider-settings', '^core/provider-settings/', '^core/(provider-settings|contract)/'),
    only('cloud-auth', '^core/cloud-auth/', '^core/(cloud-auth|provider-settings|contract)/'),
    only('secret-managers', '^core/secret-managers/', '^core/(secret-managers|contract|provider-settings|cloud-auth)/'),
    only('circuits', '^core/circuits/', '^(core/(circuits|contract)/|config/)'),
    only('leases', '^core/leases/', '^(core/(leases|contract)/|config/)'),
    only('telemetry', '^core/telemetry/', '^(core/(telemetry|contract)/|config/)'),
    only('supervisor', '^core/supervisor/', '^(core/(supervisor|contract|log|telemetry)/|config/)'),
    only('cli', '^core/cli/', '^(core/(cli|contract)/|core/prompts/(compile-template|template-error)\\.ts|config/)'),
    only('plugin-host', '^core/plugin-host/', '^(core/(plugin-host|load-module|contract)/|config/)'),
    only('load-module', '^core/load-module/', '^core/(load-module|contract)/'),
    only('provider-host', '^core/provider-host/', '^core/(provider-host|load-module|provider-settings|contract)/'),
    only('test-kit', '^core/test-kit/', '^(core|workers|plugins|config)/'),
    {
      name: 'test-kit-is-for-tests',
      severity: 'error',
      from: { path: '^(core|plugins|admin|workers|config)/', pathNot: '^(core/test-kit/|config/examples/.+\\.test\\.mjs$)' },
      to: { path: '^core/test-kit/' },
    },
    only('watchdog', '^core/watchdog/', '^core/(watchdog|contract)/'),
    only('endpoints', '^core/endpoints/', '^(core/(endpoints|contract)/|config/did-you-mean)'),
    // The main path. Endpoints beside it (explain, model lists, sessions, batches) use it and are called by it.
    only('plan', '^core/pipeline/plan/', '^core/(pipeline/plan|contract)/'),
    only('request', '^core/pipeline/request/', '^core/(pipeline/request|contract)/'),
    only('usage', '^core/pipeline/usage/', '^core/(pipeline/(usage|request|attempt)|contract)/'),
    only('target', '^core/pipeline/target/', '^(core/(pipeline|contract)/|config/did-you-mean)'),
    only('attempt', '^core/pipeline/attempt/', '^core/(pipeline|contract)/'),
    only('pipeline', '^core/pipeline/[^/]+$', '^core/(pipeline|contract)/'),
    only('explain', '^core/explain/', '^core/(explain|pipeline|contract)/'),
    only('model-list', '^core/model-list/', '^core/(model-list|pipeline|contract)/'),
    only('prompts', '^core/prompts/', '^core/(prompts|pipeline|contract)/'),
    only('json-rpc', '^core/json-rpc/', '^core/(json-rpc|pipeline|contract)/'),
    only('mcp', '^core/mcp/', '^core/(mcp|json-rpc|pipeline|contract)/'),
    only('a2a', '^core/a2a/', '^core/(a2a|json-rpc|pipeline|contract)/'),
    only('model-tools', '^core/model-tools/', '^core/(model-tools|json-rpc|pipeline|contract)/'),
    only('realtime', '^core/realtime/', '^core/(realtime|pipeline|contract)/'),
    only('control-plane', '^core/control-plane/', '^core/(control-plane|pipeline/(target|attempt)|contract)/'),
    only('batches', '^core/batches/', '^core/(batches|pipeline|control-plane|contract)/'),
    // Wire formats, translators between them, and the providers that use both.
    only('formats', '^core/formats/', '^core/(formats|translate|provider-settings|contract)/'),
    only('translate', '^core/translate/', '^core/(formats|translate|contract)/'),
    {
      name: 'provider-folders',
      severity: 'error',
      from: { path: '^core/providers/([^/]+)/' },
      to: {
        path: '^(core|plugins|admin|workers|config|bench|test)/',
        pathNot: '^core/(contract|formats|translate|cloud-auth|provider-settings|providers/$1)/',
      },
    },
    {
      name: 'declarations-load-no-adapter',
      severity: 'error',
      from: {
        path: '^core/providers/([^/]+/settings|compatible-rows/rows|vertex-ai/credential-file|list|declarations)\\.ts$',
      },
      to: {
        path: '^(core|plugins|admin|workers|config|bench|test)/',
        pathNot:
          '^core/(contract/|provider-settings/|providers/([^/]+/settings|compatible-rows/rows|vertex-ai/credential-file|list)\\.ts)',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'plugin-folders',
      severity: 'error',
      from: { path: '^plugins/([^/]+)/' },
      to: {
        path: '^(core|plugins|admin|workers|config|bench|test)/',
        pathNot: '^(core/contract/|plugins/$1/|config/did-you-mean)',
      },
    },
    only('workers', '^workers/', '^(workers/|core/contract/)'),
    only('admin', '^admin/(?!object-store/)', adminImports),
    only('admin-object-store', '^admin/object-store/', `${adminImports}|^core/cloud-auth/`),
    ...adminRules,
    library('uws-in-http-only', '(uWebSockets\\.js|@uwsjs/.*)', '^core/http/'),
    library('undici-in-upstream-only', 'undici', '^(core/upstream/|admin/outbound-fetch\\.ts)'),
    library('ws-in-upstream-only', 'ws', '^core/upstream/'),
    library('nats-at-the-bus-only', '@nats-io/.*', '^(core/(documents|nats)|admin/publish)/'),
    library('piscina-in-workers-only', 'piscina', '^workers/'),
    library(
      'jose-in-jwt-and-sign-in-only',
      'jose',
      '^(core/jwt|plugins/guardrails/checks/jwt|admin/sign-in|admin/resources/sso-connections)/',
    ),
    library('openid-client-in-sign-in-only', 'openid-client', '^admin/sign-in/'),
    library('clickhouse-client-in-one-folder-only', '@clickhouse/.*', '^admin/clickhouse/'),
    library('orm-in-admin-only', '@mikro-orm/.*', '^admin/'),
    // An import of these loads Node's own copy of undici, which gateways do not need: see core/upstream/undici-client.ts.
    {
      name: 'one-undici',
      severity: 'error',
      from: { path: '^(core|plugins|workers|config)/', pathNot: '^core/(cli|test-kit)/' },
      to: { path: '^(node:)?(http|https)$|node_modules/undici/index', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(fixtures|bench/peers/node_modules)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};

/** Import rules inside admin/, as data. `.dependency-cruiser.cjs` turns them into rules and docs/imports.md describes them. */

/** Tables of rows, and the rules that read nothing but these rows. Every folder above the infrastructure may import them. */
const rows = 'resources/([a-z/-]+entity|organisations/(setting-sections|effective-setting|security-settings))\\.ts';

/** Files of admin/ itself that import only each other. */
const leaves = '(background-work|database-problem|failure-fields|in-turns|is-database-away|outbound-fetch|start-error)\\.ts';

/** Each folder with the folders it may import besides itself and the leaves, lowest first. */
const folders = {
  db: [],
  clickhouse: [],
  audit: ['db'],
  publish: ['db', 'audit'],
  secrets: ['db'],
  mail: ['db', 'audit', 'secrets'],
  jobs: ['db'],
  'object-store': ['db', 'jobs'],
  http: ['db', 'clickhouse', 'audit', 'publish', 'secrets', 'mail', 'object-store'],
  limits: ['db', 'http'],
  pricing: ['http'],
  leases: ['db', 'audit', 'http', 'limits', 'mail', 'pricing'],
  openapi: ['http'],
  telemetry: ['db', 'define-resource\\.ts'],
  analytics: ['db', 'clickhouse', 'pricing', 'define-resource\\.ts'],
  scim: ['http'],
  announce: ['db', 'publish', rows],
  access: ['db', 'http', 'publish', 'announce', rows],
  identity: ['db', 'audit', 'http', 'mail', 'publish', 'scim', 'access', rows],
  'sign-in': [
    ...['db', 'http', 'publish', 'secrets', 'access', 'identity', rows, 'define-resource\\.ts'],
    'resources/(sessions/sign-in|sso-connections/(addresses|saml-settings|secrets)|scim-users/(find-differences|follow-groups)|user-invites/(join-workspaces|service)|users/(check-email-domain|service)|workspace-users/memberships)\\.ts',
  ],
  pages: ['http', 'identity'],
  'gateway-api': [
    ...['db', 'audit', 'http', 'publish', 'secrets', 'leases', 'pricing', 'identity', rows, 'define-resource\\.ts'],
    'resources/(api-keys/to-document|batches/store-routes|cached-replies/serve-cached-replies|deployments/instances|files/(store-routes|store-error)|integrations/models/read-pricing|logs/contents|mcp-connections/serve-tokens|mcp-integrations/capabilities|webhooks/add-deliveries)\\.ts',
  ],
  bootstrap: [
    ...['db', 'publish', 'secrets', 'access', rows],
    'resources/(integrations/(service|sharing/create-provider)|prompt-(collections|labels)/service|user-invites/service)\\.ts',
  ],
  commands: [
    ...['db', 'audit', 'publish', 'secrets', 'analytics', 'bootstrap', rows, 'tables\\.ts'],
    'resources/(ledger-entries/verify-ledger|logs/retention)\\.ts',
  ],
};

/** What every resource may import. */
const forResources = [
  ...[
    'db',
    'clickhouse',
    'audit',
    'publish',
    'secrets',
    'mail',
    'jobs',
    'object-store',
    'http',
    'limits',
    'pricing',
    'leases',
    'openapi',
    'analytics',
  ],
  ...['scim', 'announce', 'access', 'identity', 'sign-in', 'pages', rows, 'define-resource\\.ts'],
];

/** Resources whose other files a resource may import, except routes and declarations. There are no circles. */
const resources = {
  'agent-integrations': ['guardrails', 'mcp-integrations'],
  'agent-servers': ['agent-integrations', 'guardrails', 'mcp-integrations'],
  analytics: ['logs'],
  'api-keys': ['organisations'],
  batches: ['files'],
  configs: ['integrations', 'logs'],
  'email-domains': ['users'],
  feedbacks: ['logs'],
  guardrails: ['plugins'],
  integrations: ['secret-references'],
  'ledger-entries': ['logs'],
  'log-exports': ['logs', 'organisations'],
  'mcp-connections': ['mcp-integrations', 'mcp-servers'],
  'mcp-integrations': ['guardrails', 'integrations', 'secret-references', 'webhooks'],
  'mcp-registry': ['mcp-integrations'],
  'mcp-servers': ['guardrails', 'integrations', 'mcp-integrations', 'secret-references'],
  'mcp-virtual-servers': ['mcp-servers'],
  'model-configs': ['integrations'],
  'oauth-grants': ['mcp-virtual-servers'],
  'organisation-members': ['users'],
  'organisation-utilities': ['api-keys', 'organisations'],
  policies: ['analytics'],
  'prompt-partials': ['prompt-collections'],
  'prompt-tools': ['prompt-collections'],
  'prompt-tests': ['guardrails', 'logs', 'prompts'],
  prompts: ['logs', 'prompt-collections', 'prompt-labels', 'prompt-partials'],
  providers: ['configs', 'integrations', 'logs', 'secret-references'],
  repricings: ['integrations'],
  'second-factors': ['sessions', 'users'],
  'scim-groups': ['api-keys', 'organisations', 'scim-users', 'workspace-users', 'workspaces'],
  'scim-users': ['api-keys', 'organisations', 'users', 'workspace-users'],
  sessions: ['users'],
  'sso-connections': ['users'],
  'user-invites': ['api-keys', 'organisations', 'sessions', 'users', 'workspace-users'],
  users: ['api-keys', 'workspace-users'],
  'virtual-keys': ['configs', 'integrations', 'providers'],
  'workspace-users': ['api-keys'],
  workspaces: ['integrations', 'organisations', 'prompt-collections', 'workspace-users'],
};

/** Returns the paths of folders and files below admin/ as one pattern. */
function pattern(names) {
  return `^admin/(${names.map((name) => (name.endsWith('.ts') ? name : `${name}/`)).join('|')})`;
}

function rule(name, from, allowed) {
  return { name, severity: 'error', from: { path: from }, to: { path: '^admin/', pathNot: pattern([...allowed, leaves]) } };
}

exports.adminRules = [
  rule('admin-leaves', `^admin/${leaves}$`, []),
  ...Object.entries(folders).map(([folder, allowed]) => rule(`admin-${folder}`, `^admin/${folder}/`, [folder, ...allowed])),
  {
    name: 'admin-resources',
    severity: 'error',
    from: { path: '^admin/resources/([^/]+)/', pathNot: pattern(Object.keys(resources).map((name) => `resources/${name}`)) },
    to: { path: '^admin/', pathNot: pattern(['resources/$1', ...forResources, leaves]) },
  },
  ...Object.entries(resources).map(([name, others]) =>
    rule(
      `admin-resources-${name}`,
      `^admin/resources/${name}/`,
      [name, ...others].map((one) => `resources/${one}`).concat(forResources),
    ),
  ),
  {
    name: 'admin-resources-keep-their-routes',
    severity: 'error',
    from: { path: '^admin/resources/([^/]+)/' },
    to: { path: '^admin/resources/[^/]+/([a-z/-]*routes?|resource)\\.ts$', pathNot: '^admin/resources/$1/' },
  },
];

exports.adminFolders = Object.keys(folders);
exports.resourceArrows = resources;

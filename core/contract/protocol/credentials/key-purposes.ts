/** Purposes for `deriveKey`: one master key, one derived key per use. */
export const keyPurposes = {
  /** from the first ENCRYPTION_KEY of the database: pepper of `digestSecret` */
  apiKeyPepper: 'svc api-key pepper v1',
  /** from CLUSTER_KEY: signs the credentials with which jobs of the control plane call models */
  jobCredential: 'svc job credential v1',
  /** from CLUSTER_KEY: seals provider secrets on the internal API */
  transport: 'svc internal transport v1',
  /** from CLUSTER_KEY: seals the state of MCP sessions into their ids */
  mcpSession: 'svc mcp session v1',
  /** from CLUSTER_KEY: seals client secrets of realtime sessions */
  clientSecret: 'svc client secret v1',
  /** from CLUSTER_KEY: seals messages of MCP sessions between gateway processes */
  mcpPeer: 'svc mcp peer v1',
  /** from CLUSTER_KEY: seals the keys that sign the identity of callers, in the database */
  storedSigningKey: 'svc stored signing key v1',
  /** from CLUSTER_KEY: proves tokens of OAuth clients, and seals requests that wait for consent */
  oauthToken: 'svc oauth token v1',
  /** from CLUSTER_KEY: names the installation in calls to others */
  loopMark: 'svc loop mark v1',
  /** from CLUSTER_KEY: seals replies in the shared cache */
  cachedReply: 'svc cached reply v1',
  /** from CLUSTER_KEY: seals the vectors of the semantic cache in the database */
  cachedVector: 'svc cached vector v1',
  /** from CLUSTER_KEY: seals e-mail addresses in change notices on NATS */
  changeNotice: 'svc change notice v1',
  /** from ENCRYPTION_KEY and CLUSTER_KEY together: encrypts the last-known-good file */
  disk: 'svc last-known-good v1',
  /** from ENCRYPTION_KEY: wraps the data keys of the credential store */
  dataKeys: 'svc data-key wrap v1',
  /** from ENCRYPTION_KEY: seals keys in the database that stay the same when ENCRYPTION_KEY is replaced */
  keptKeys: 'svc kept keys v1',
  /** from ENCRYPTION_KEY: signs the URLs of exported files */
  exportUrl: 'svc export url v1',
  /** from the first ENCRYPTION_KEY of the database: hashes of the audit chain */
  auditChain: 'svc audit chain v1',
  /** from ENCRYPTION_KEY and from CLUSTER_KEY: seals the text that proves if a key belongs to the database */
  keyCheck: 'svc key check v1',
} as const;

import * as v from 'valibot';

/** The id of the only document of the kind `signing-key`. */
export const signingKeyId = 'mcp';

/** Keys that sign the identity of callers for MCP servers, the newest first. All gateways share them. */
export const signingKeyDocument = v.object({
  id: v.string(),
  keys: v.array(
    v.object({
      /** JWK with `kid`. */
      publicKey: v.looseObject({ kid: v.string() }),
      /** Private key in PKCS #8 (PEM), sealed with the transport key, aad `signing-key/<kid>`. */
      privateKey: v.string(),
    }),
  ),
});
export type SigningKeyDocument = v.InferOutput<typeof signingKeyDocument>;

/** The issuer of the signed identities. */
export const identityIssuer = 'svc-mcp-gateway';

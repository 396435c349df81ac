/**
 * Names of provider settings in the config language and in headers. The declarations of the providers are the source
 * (`core/providers/declarations.ts`); contract, pipeline and plugins receive the names and import no provider.
 */
export interface SettingNames {
  /** Settings of config targets and headers. The header of a setting is its name with `-` for `_` after the gateway's prefix. */
  readonly settings: readonly string[];
  /** Settings of config targets alone. */
  readonly config: readonly string[];
  /** Credentials of config targets and headers. */
  readonly secrets: readonly string[];
  /** Those of `secrets` that become part of a header. */
  readonly headerSecrets: readonly string[];
  /** Settings whose values are URLs that gateways call. */
  readonly hosts: readonly string[];
  /** Settings that requests may set even if inline providers are blocked. */
  readonly inline: readonly string[];
}

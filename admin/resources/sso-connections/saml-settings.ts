import type { SsoConnection } from './entity.ts';

/** Settings of a SAML identity provider, without secrets. */
export interface SamlSettings {
  /** Name of the provider (`entityID`). */
  readonly idp_entity_id: string;
  /** Address for sign-ins with the redirect binding. */
  readonly sso_url: string;
  /** Address for logouts with the redirect binding; null: the provider is not notified of logouts. */
  readonly slo_url: string | null;
  /** Address for replies to the provider's own logout requests (`ResponseLocation`), if it is not `slo_url`. Absent in older rows. */
  readonly slo_response_url?: string | null;
  /** Certificates of signatures, in PEM; several during a rotation. Never empty. */
  readonly certificates: readonly string[];
  /** Source of the five fields above; null: they were entered. */
  readonly metadata_url: string | null;
  readonly sign_requests: boolean;
  readonly want_assertion_signed: boolean;
  readonly want_response_signed: boolean;
  /** True: the provider may begin sign-ins. Such sign-ins are not bound to the browser. */
  readonly allow_idp_initiated: boolean;
  readonly clock_skew_seconds: number;
  /** Attributes with e-mail, names and groups; null: the usual names. */
  readonly email_attribute: string | null;
  readonly first_name_attribute: string | null;
  readonly last_name_attribute: string | null;
  readonly group_attribute: string | null;
  /** Certificate of our key for requests and encryption, in PEM. */
  readonly own_certificate: string;
  /** Certificates of the second key during a rotation: the one that will sign, or the one that signed. */
  readonly next_certificate?: string | null;
  readonly previous_certificate?: string | null;
}

/** Returns the settings of a connection of the type `saml`. */
export function samlSettingsOf({ settings }: Pick<SsoConnection, 'settings'>): SamlSettings {
  return settings as unknown as SamlSettings;
}

import { headerParam } from '../contract/protocol/header-names.ts';
import type { ProviderSettings } from '../contract/provider/provider.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { tagsIn } from '../provider-settings/aws.ts';

/** A tag of an assumed role's session, by which policies of the account tell callers apart. */
export interface SessionTag {
  readonly key: string;
  readonly value: string;
}

/** Labels of a request: its metadata. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Returns the session tags of a call with this metadata, by name; none if the settings define none or the metadata has none of
 * them. Throws `bad_request` for a value that AWS does not allow in a tag, because a changed value could identify another user.
 */
export function sessionTagsOf(settings: ProviderSettings, labels: Labels): readonly SessionTag[] {
  const { aws_session_tags: list } = settings;
  if (typeof list !== 'string') return none;
  const tags: SessionTag[] = [];
  for (const { key, from } of tagsIn(list)) {
    const value = Object.hasOwn(labels, from) ? labels[from] : undefined;
    if (value === undefined) continue;
    if (!/^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u.test(value)) {
      const message = `Invalid metadata passed: ${from} becomes a session tag of AWS, which allows letters, digits, spaces and _.:/=+-@`;
      throw new GatewayError('bad_request', { message, param: headerParam('metadata') });
    }
    tags.push({ key, value });
  }
  return tags.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Rejects tags that would have no effect, because the user relies on them. Throws `invalid_config`. */
export function refuseTagsWithoutRole(settings: ProviderSettings, authType: string): void {
  if (typeof settings.aws_session_tags !== 'string' || authType === 'assumedRole') return;
  throw new GatewayError('invalid_config', {
    message: 'aws_session_tags: only supported with aws_auth_type assumedRole',
    param: 'aws_session_tags',
  });
}

const none: readonly SessionTag[] = [];

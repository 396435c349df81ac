import * as v from 'valibot';
import type { AuthModes, Requirement, SettingDeclaration } from './declaration.ts';
import { choice, headerSecret, secret, text } from './kinds.ts';

const tagsMax = 50;

/** Settings of every provider that is called as an AWS account. */
export const awsSettings = {
  aws_region: text({
    about: 'Region whose endpoint is called.',
    // Becomes part of a host name, so no other characters are allowed.
    pattern: /^[a-z]{2,6}(-[a-z]{1,12}){1,3}-\d{1,2}$/,
    expected: 'an AWS region such as us-east-1',
    example: 'eu-central-1',
    host: 'part',
    moves: true,
  }),
  aws_auth_type: choice({
    about: 'Authentication: access key, assumed role, identity of the machine, or API key.',
    options: ['accessKey', 'assumedRole', 'serviceRole', 'apiKey'],
    pinned: 'always',
  }),
  aws_access_key_id: headerSecret({ about: 'Access key id.', example: 'AKIAIOSFODNN7EXAMPLE' }),
  aws_secret_access_key: secret({ about: 'Secret access key.' }),
  aws_session_token: headerSecret({ about: 'Session token of temporary access keys.' }),
  aws_role_arn: text({
    about: 'ARN of the role to assume.',
    pattern: /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/,
    expected: 'the ARN of a role such as arn:aws:iam::123456789012:role/gateway',
    example: 'arn:aws:iam::123456789012:role/gateway',
    max: 2_048,
    pinned: 'always',
  }),
  aws_external_id: text({
    about: 'External id sent when the role is assumed.',
    pattern: /^[\w+=,.@:/-]{2,1224}$/,
    expected: 'an external id of 2 to 1224 letters, digits and +=,.@:/-',
    example: 'gateway-1',
    max: 1_224,
    pinned: 'always',
  }),
  aws_session_tags: {
    ...text({ about: 'Metadata keys that become tags of the session.', example: 'team, cost-center=project', pinned: 'always' }),
    schema: v.pipe(
      v.string(),
      v.maxLength(4_096),
      v.check(isTagList, 'expected a comma list of metadata keys, or tag=key, such as team, cost-center=project'),
    ),
  },
} satisfies Readonly<Record<string, SettingDeclaration>>;

/** Tags exist only in sessions of assumed roles. */
const noTags = { refuses: ['aws_session_tags'] } as const;

const modes: AuthModes['modes'] = {
  accessKey: { needs: ['aws_access_key_id', 'aws_secret_access_key'], credential: 'aws_secret_access_key', ...noTags },
  assumedRole: { needs: ['aws_role_arn'], credential: 'aws_role_arn' },
  serviceRole: { credential: 'aws_auth_type', ...noTags },
  apiKey: { needs: ['api_key'], ...noTags },
};

/** The modes by `aws_auth_type`. If no mode is set, the credentials decide. */
export const awsAuth: AuthModes = {
  setting: 'aws_auth_type',
  modes,
  usual: [
    ['accessKey', 'aws_access_key_id'],
    ['assumedRole', 'aws_role_arn'],
    ['apiKey', 'api_key'],
  ],
};

/** Required settings if no mode is set. */
export const awsRequires: readonly Requirement[] = [
  { when: 'aws_session_tags', needs: ['aws_role_arn'] },
  { when: 'aws_access_key_id', needs: ['aws_secret_access_key'] },
  { when: 'aws_secret_access_key', needs: ['aws_access_key_id'] },
  { when: 'aws_session_token', needs: ['aws_access_key_id'] },
];

/** One tag of a session and the metadata key that its value is taken from. */
export function tagsIn(list: string): { key: string; from: string }[] {
  return list.split(',').map((entry) => {
    const [key = '', from = key] = entry.trim().split('=');
    return { key, from };
  });
}

/** AWS compares keys without case and reserves those that begin with `aws:`. */
function isTagList(list: string): boolean {
  const entries = list.split(',').map((entry) => entry.trim());
  const keys = new Set(tagsIn(list).map(({ key }) => key.toLowerCase()));
  return (
    entries.every((entry) => /^(?!aws:)[\w.:/+@-]{1,128}(=[^=]{1,128})?$/i.test(entry)) &&
    keys.size === entries.length &&
    keys.size <= tagsMax
  );
}

import * as v from 'valibot';
import type { ProviderSettings } from '../contract/provider/provider.ts';
import { sessionTagsSetting } from './aws-session-tags.ts';

/** Region of calls whose settings name none. */
const defaultRegion = 'us-east-1';

/** Parts of an AWS region name; it becomes part of a host name, so nothing else may get through. */
const regionPattern = /^[a-z]{2,6}(-[a-z]{1,12}){1,3}-\d{1,2}$/;

/** Settings of every provider that is reached as an AWS account. */
export const awsSettings = {
  aws_region: v.nullish(v.pipe(v.string(), v.regex(regionPattern, 'an AWS region such as us-east-1'))),
  aws_auth_type: v.nullish(v.picklist(['accessKey', 'assumedRole', 'serviceRole', 'apiKey'])),
  aws_role_arn: v.nullish(
    v.pipe(v.string(), v.maxLength(2048), v.regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'the ARN of a role')),
  ),
  aws_session_tags: sessionTagsSetting,
  aws_external_id: v.nullish(v.pipe(v.string(), v.minLength(2), v.maxLength(1224), v.regex(/^[\w+=,.@:/-]+$/, 'an external id'))),
};

/** `aws_region`, else the default. */
export function regionOf(settings: ProviderSettings): string {
  return typeof settings.aws_region === 'string' ? settings.aws_region : defaultRegion;
}

/** `https://<service>.<region>.<domain of the region's partition>`. */
export function awsOrigin(service: string, region: string): string {
  return `https://${service}.${region}.${domainOf(region)}`;
}

function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

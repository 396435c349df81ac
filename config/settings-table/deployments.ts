import { text, wholeNumber } from '../setting-types.ts';
import { optional, row } from './kinds.ts';
import { pairs } from './pairs.ts';

export const deployments = {
  deployment: row(
    'DEPLOYMENT_NAME',
    'default',
    'Slug of the deployment to which the gateways of this machine belong (`GET /v2/deployments`). Machines with the same name share one.',
    text(/^[a-zA-Z0-9_-]{1,50}$/, 'a name of 1 to 50 letters, digits, _ or -'),
  ),
  deploymentTags: optional(
    'DEPLOYMENT_TAGS',
    'Tags of the gateways of this machine, such as `region=eu-west-1`: pairs with commas between.',
    pairs(false, 'pairs such as region=eu-west-1, with commas between and percent-encoded values'),
  ),
  deploymentSourceType: row(
    'DEPLOYMENT_SOURCE_TYPE',
    'self_hosted',
    'How the gateways of this machine are installed, such as helm or docker. Shown as `source_type`.',
    text(/^[a-zA-Z0-9_. -]{1,50}$/, 'a text of 1 to 50 letters, digits, spaces, `_`, `.` or `-`'),
  ),
  deploymentOrganisation: optional(
    'DEPLOYMENT_ORGANISATION',
    'Id of the organisation that sees the gateways of this control plane. Unset: the organisation of the first start.',
    text(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/, 'the id of an organisation'),
  ),
  deploymentStaleSeconds: row(
    'DEPLOYMENT_STALE_AFTER',
    '90',
    'Seconds without a report after which a gateway counts as unhealthy. Gateways report three times as often.',
    wholeNumber(3, 86_400, 'seconds'),
  ),
  deploymentRemovedSeconds: row(
    'DEPLOYMENT_REMOVED_AFTER',
    '86400',
    'Seconds without a report after which a gateway is removed from its deployment.',
    wholeNumber(3, 31_536_000, 'seconds'),
  ),
};

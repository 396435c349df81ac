import type { Change } from '../../publish/write-change.ts';
import type { Making } from '../workspace-users/memberships.ts';

export async function followGroups(
  _change: Change,
  _organisationId: string,
  _userIds: readonly string[],
  _making: Making,
): Promise<void> {}

import { beginPending } from '../../identity/second-factor/pending.ts';
import type { Change } from '../../publish/write-change.ts';
import type { User } from '../users/entity.ts';
import { type SignInCall, signIn } from './sign-in.ts';

/** Signs in a user who entered the right password. Without the second factor that is needed, the reply is a pending sign-in. */
export async function signInWithPassword(change: Change, call: SignInCall, user: User) {
  const pending = await beginPending(change.tx, user, call.services.clock.now());
  if (pending) change.about(user);
  return pending ?? signIn(change, call, user);
}

import { anthropic } from './anthropic.ts';
import { claudePlatformAws } from './platform-on-aws.ts';

/** What the declaration loads. */
export const adapters = [anthropic, claudePlatformAws];

import { anthropic } from './anthropic.ts';
import { federation } from './federation.ts';
import { claudePlatformAws } from './platform-on-aws.ts';

export const adapters = [{ ...anthropic, federation }, claudePlatformAws];

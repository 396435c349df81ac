import type { ProviderSettings } from '../contract/provider/provider.ts';

/** Region of calls whose settings name none. */
const defaultRegion = 'us-east-1';

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

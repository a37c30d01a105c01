import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';

/** Tells tokens from others, without keeping them. Other where the access token or the refresh token is. */
export async function tokenDigest({ access_token, refresh_token }: OAuthTokens): Promise<string> {
  const text = JSON.stringify([access_token, refresh_token ?? null]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

import type { Lading } from '../harness/lading.ts'

type Business = Lading['a']

export const makeLink = async (business: Pick<Business, 'id' | 'rest'>): Promise<string> => {
  const { body } = await business.rest.rpc<{ url: string }>('create_webhook_portal_magic_link', {
    business_id: business.id,
  })
  return body.url
}

export const tokenOf = (link: string): string => new URL(link).searchParams.get('token') ?? ''

export interface Visitor {
  /** Name and value, as a browser sends it back. */
  cookie: string
  get(path: string): Promise<Response>
  /** Posts a form as the page of the portal would; what is given overrides that. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Response>
  formToken(): Promise<string>
}

/** Somebody who opened a link, without a browser. */
export async function openPortal(link: string): Promise<Visitor> {
  const opened = await fetch(link, { redirect: 'manual' })
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const base = new URL('/portal', link).href
  const get = (path: string) => fetch(`${base}${path}`, { headers: { cookie }, redirect: 'manual' })
  const formToken = async () => /name="form_token" value="([^"]+)"/.exec(await (await get('')).text())?.[1] ?? ''
  return {
    cookie,
    get,
    formToken,
    post: async (path, fields = {}, headers = { 'sec-fetch-site': 'same-origin' }) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, ...headers },
        body: new URLSearchParams({ form_token: await formToken(), ...fields }),
      }),
  }
}

"""Reads the coin as users of price aggregators do: with coingecko_sdk and with pycoingecko, and prints what they understood.

    python coin.py BASE_URL COIN_ID
"""

import json
import sys

import coingecko_sdk
from pycoingecko import CoinGeckoAPI

base_url, coin_id = sys.argv[1] + "/api/market/coingecko", sys.argv[2]


def told(read):
    data = read["market_data"]
    return {
        "id": read["id"], "symbol": read["symbol"], "name": read["name"],
        "usd": data["current_price"]["usd"], "marketCap": data["market_cap"]["usd"],
        "total": data["total_supply"], "circulating": data["circulating_supply"], "max": data["max_supply"],
        "updated": read["last_updated"],
    }


def refusal(call):
    """The error that the library raises for a coin that nobody knows."""
    try:
        call()
    except Exception as error:
        return error
    sys.exit("a coin that nobody knows was found")


sdk = coingecko_sdk.Coingecko(base_url=base_url, demo_api_key="none", max_retries=0)
with_sdk = told(sdk.coins.get_id(coin_id).to_dict()) | {
    "chart": sdk.coins.market_chart.get(coin_id, vs_currency="usd", days="7").to_dict(),
    "unknown": refusal(lambda: sdk.coins.get_id("nobody")).status_code,
}

# Its paths end with a slash. Of a refusal it keeps the body alone.
client = CoinGeckoAPI()
client.api_base_url = base_url + "/"
with_client = told(client.get_coin_by_id(coin_id)) | {
    "chart": client.get_coin_market_chart_by_id(coin_id, "usd", 7),
    "unknown": refusal(lambda: client.get_coin_by_id("nobody")).args[0]["error"],
}
print(json.dumps({"coingecko_sdk": with_sdk, "pycoingecko": with_client}))

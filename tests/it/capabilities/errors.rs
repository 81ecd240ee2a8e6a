//! Errors with headers and members: one attribute above the variant, in the response and in OpenAPI.

use plugin_testing::{TestGateway, TestResponse, json};

async fn gateway() -> TestGateway {
    TestGateway::builder().plugin(keeper::plugin_module()).start().await
}

fn header<'a>(answer: &'a TestResponse, name: &str) -> Option<&'a str> {
    assert!(answer.headers.get_all(name).iter().count() <= 1, "{name} is there twice");
    answer.headers.get(name).and_then(|value| value.to_str().ok())
}

#[tokio::test]
async fn the_response_has_them() {
    let gateway = gateway().await;
    let error = async |name: &str| gateway.get(&format!("/api/keeper/errors/{name}")).await;
    let soon = error("soon").await;
    assert_eq!((soon.status, header(&soon, "retry-after")), (429, Some("17")));
    let body = json!({ "error": "too soon: wait 17 s", "code": "too_soon", "hint": "wait", "lastOrder": 7 });
    assert_eq!(soon.json(), body);

    let sign_in = error("sign-in").await;
    assert_eq!((sign_in.status, header(&sign_in, "www-authenticate")), (401, Some("Bearer realm=\"keeper\"")));
    // Its own pause takes the place of the gateway's.
    let closed = error("closed").await;
    assert_eq!((closed.status, header(&closed, "retry-after")), (503, Some("3600")));
    assert_eq!(closed.json()["until"], "08:00");

    let payment = error("payment").await;
    assert_eq!((payment.status, header(&payment, "payment-required")), (402, Some("eyJ4IjoxfQ==")));
    assert_eq!(payment.json()["price"], "21");
    let problem = error("problem").await;
    assert_eq!((problem.status, header(&problem, "payment-required")), (402, Some("e30=")));
    assert_eq!(problem.json(), json!({ "error": "pay first", "code": "pay_first", "price": "1" }));

    let unknown = error("nothing").await;
    assert_eq!((unknown.status, header(&unknown, "retry-after")), (400, None));
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    // A value with a line feed could forge a second header.
    assert_eq!(error("broken").await.status, 500);
    assert_eq!(gateway.faults().await.len(), 1);
    gateway.stop().await;
}

#[tokio::test]
async fn the_documentation_lists_them() {
    let gateway = gateway().await;
    let document = gateway.get("/api/openapi.json").await.json();
    let responses = &document["paths"]["/api/keeper/errors/{name}"]["get"]["responses"];
    let too_soon = &responses["429"]["content"]["application/json"]["schema"]["allOf"];
    assert_eq!(too_soon[0]["$ref"], "#/components/schemas/Error", "{responses:#}");
    assert_eq!(too_soon[1]["properties"]["lastOrder"]["type"], "integer");
    assert_eq!(responses["429"]["headers"]["Retry-After"]["$ref"], "#/components/headers/Retry-After");
    assert_eq!(responses["401"]["headers"]["www-authenticate"]["schema"]["type"], "string", "{responses:#}");
    let payment = &responses["402"];
    assert_eq!(payment["headers"]["payment-required"]["description"], "Codes: `payment_required`");
    assert_eq!(payment["content"]["application/json"]["schema"]["allOf"][1]["properties"]["price"]["type"], "string");
    assert_eq!(
        responses["503"]["content"]["application/json"]["schema"]["allOf"][1]["properties"]["until"]["type"],
        "string"
    );
    gateway.stop().await;
}
